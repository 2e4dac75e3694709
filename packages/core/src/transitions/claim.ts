import { randomUUID } from "node:crypto";
import { executeOn } from "../database/statement.ts";
import { unsynced } from "../database/unsynced.ts";
import { hidden, isUuid, textArray, uuidArray } from "../database/literals.ts";
import type { JobRow } from "../database/schema.ts";
import type { Deps } from "../deps.ts";
import { countChanges } from "./count-changes.ts";

/** A job in the hands of one worker. The token is the proof in every later call; jobs claimed together share it. */
export type Lease = Pick<
  JobRow,
  | "id"
  | "queue"
  | "type"
  | "priority"
  | "attempts"
  | "max_attempts"
  | "payload"
  | "timeout_seconds"
  | "backoff"
  | "last_error"
  | "group_key"
> & { tenant: string; lease_token: string; worker_id: string };

/** A lease with the whole job as it is now: what a remote worker is told. */
export type LeasedJob = JobRow & { lease_token: string; locked_until: Date; worker_id: string };

export type Claimer = { tenant: string; queues: readonly string[]; worker_id: string; lease_seconds: number };

/**
 * queued → running, for ids that the signal handed out. One statement by primary key; ids that are junk, taken, finished
 * or of a queue that is not served are left out of the answer. Leases come in the order of the ids.
 *
 * @example
 * const leases = await claim(deps, ["0192…"], { tenant: "default", queues: ["default"], worker_id, lease_seconds: 30 });
 */
export async function claim(deps: Deps, ids: readonly string[], claimer: Claimer): Promise<Lease[]> {
  return claimIds<Lease>(deps, ids, claimer, claimById);
}

/**
 * queued → running, without a signal: the oldest of the highest priority. Scans the index of ready jobs, so it is for
 * the time when Redis is away. Claimers side by side skip each other's rows.
 */
export async function claimReady(deps: Deps, jobs_max: number, claimer: Claimer): Promise<Lease[]> {
  return claimOldest<Lease>(deps, jobs_max, claimer, claimReadyJobs);
}

/** `claim`, or `claimReady` when given a number, with all there is to know of the jobs in the same statement. */
export function claimJobs(deps: Deps, which: readonly string[] | number, claimer: Claimer): Promise<LeasedJob[]> {
  return typeof which === "number"
    ? claimOldest<LeasedJob>(deps, which, claimer, claimReadyWhole)
    : claimIds<LeasedJob>(deps, which, claimer, claimWholeById);
}

async function claimIds<L extends Lease>(
  deps: Deps,
  ids: readonly string[],
  claimer: Claimer,
  text: string,
): Promise<L[]> {
  const wanted = [...new Set(ids.filter(isUuid).map((id) => id.toLowerCase()))];
  if (wanted.length === 0) return [];
  const leases = await claimWith<L>(deps, claimer, text, uuidArray(wanted));
  const missed = ids.length - leases.length;
  if (missed > 0) deps.observe({ event: "lease_not_acquired", count: missed, worker_id: claimer.worker_id });
  const place = new Map(wanted.map((id, at) => [id, at]));
  return leases.sort((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0));
}

async function claimOldest<L extends Lease>(
  deps: Deps,
  jobs_max: number,
  claimer: Claimer,
  text: string,
): Promise<L[]> {
  const leases = await claimWith<L>(deps, claimer, text, jobs_max);
  return leases.sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1));
}

async function claimWith<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  text: string,
  which: string | number,
): Promise<L[]> {
  const { tenant, worker_id, lease_seconds } = claimer;
  const lease_token = randomUUID();
  const params = [lease_token, worker_id, lease_seconds, tenant, textArray(claimer.queues), which];
  const rows = await executeOn(deps.database)<L>({ text, params });
  const leases = rows.map((row) => Object.assign(row, { tenant, lease_token, worker_id }));
  for (const one of leases) deps.observe({ event: "lease_acquired", ...aboutLease(one) });
  return leases;
}

/** What a worker needs to run a job: everything else would come back with each of thousands. */
const leaseColumns =
  "id, queue, type, priority, attempts, max_attempts, payload, timeout_seconds, backoff, last_error, group_key";

/**
 * $1 token, $2 worker, $3 lease seconds, $4 tenant, $5 queues. Not synced to disk: if a crash of the database forgets
 * it, the job is simply still queued.
 */
const claiming = (which: string, columns = leaseColumns) => `
  WITH leased AS (
    UPDATE jobs SET status = 'running', ready_at = NULL, attempts = attempts + 1, lease_token = $1::text::uuid,
                    worker_id = $2, started_at = now(), updated_at = now(),
                    locked_until = now() + make_interval(secs => $3::float8)
    WHERE ${which} AND status = 'queued' AND ${unsynced}
    RETURNING ${columns}
  ), batch AS (
    INSERT INTO lease_batches (token, worker_id, check_at, job_ids)
    SELECT $1::text::uuid, $2, now() + make_interval(secs => $3::float8), array_agg(id) FROM leased HAVING count(*) > 0
  ), ${counted}
  SELECT * FROM leased`;

// Of one tenant, so its name need not come back with every job.
const counted = countChanges("(SELECT $4 AS tenant, queue FROM leased) AS leased", {
  queued: "-count(*)",
  running: "count(*)",
});

/** The queues of $5 that are not paused. Depends on no row, so PostgreSQL looks once a statement. */
const served = `ARRAY(
  SELECT queue FROM unnest($5::text[]) AS wanted(queue)
  WHERE NOT EXISTS (SELECT FROM queues WHERE tenant = $4 AND queues.queue = wanted.queue AND paused_at IS NOT NULL))`;

const byId = `id = ANY(${hidden("$6::uuid[]")}) AND tenant = $4 AND queue = ANY(${served})`;
const claimById = claiming(byId);
const claimWholeById = claiming(byId, "*");

// Each queue's own order, then the best of those: one index scan a queue, none of them longer than the answer.
const oldest = `id = ANY(ARRAY(
      SELECT ready.id
      FROM unnest(${served}) AS served(queue),
           LATERAL (SELECT id, priority, ready_at FROM jobs
                    WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL
                    ORDER BY priority DESC, ready_at, id LIMIT $6::int
                    FOR UPDATE SKIP LOCKED) AS ready
      ORDER BY ready.priority DESC, ready.ready_at, ready.id LIMIT $6::int))`;
const claimReadyJobs = claiming(oldest);
const claimReadyWhole = claiming(oldest, "*");

/** A lease as events name it. */
export function aboutLease(lease: Pick<Lease, "id" | "type" | "queue" | "attempts" | "worker_id">) {
  return {
    job_id: lease.id,
    job_type: lease.type,
    queue: lease.queue,
    attempt: lease.attempts,
    worker_id: lease.worker_id,
  };
}
