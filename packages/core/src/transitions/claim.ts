import { bounded } from "../database/bounded.ts";
import { isUuid, textArray, uuidArray } from "../database/literals.ts";
import type { JobRow } from "../database/schema.ts";
import type { Deps } from "../deps.ts";

/** A job in the hands of one worker until `locked_until`. The token is the proof in every later call. */
export type Lease = Pick<
  JobRow,
  | "id"
  | "tenant"
  | "queue"
  | "type"
  | "priority"
  | "attempts"
  | "max_attempts"
  | "payload"
  | "timeout_seconds"
  | "backoff"
  | "run_at"
  | "created_at"
  | "last_error"
> & { lease_token: string; locked_until: Date; started_at: Date; worker_id: string };

export type Claimer = { tenant: string; queues: readonly string[]; worker_id: string; lease_seconds: number };

/**
 * queued → running, for ids that the signal handed out. One statement by primary key; ids that are junk, taken, finished
 * or of a queue that is not served are left out of the answer. Leases come in the order of the ids.
 *
 * @example
 * const leases = await claim(deps, ["0192…"], { tenant: "default", queues: ["default"], worker_id, lease_seconds: 30 });
 */
export async function claim(deps: Deps, ids: readonly string[], claimer: Claimer): Promise<Lease[]> {
  const wanted = [...new Set(ids.filter(isUuid).map((id) => id.toLowerCase()))];
  if (wanted.length === 0) return [];
  const { sql } = deps.database;
  const rows = await bounded(
    deps.database,
    sql<Lease[]>`
    UPDATE jobs SET ${leaseColumns(deps, claimer)}
    WHERE id = ANY(${uuidArray(wanted)}::uuid[]) AND status = 'queued'
      AND tenant = ${claimer.tenant} AND queue = ANY(${textArray(claimer.queues)}::text[])
    RETURNING ${returned(deps)}`,
  );
  const missed = ids.length - rows.length;
  if (missed > 0) deps.observe({ event: "lease_not_acquired", count: missed, worker_id: claimer.worker_id });
  const place = new Map(wanted.map((id, at) => [id, at]));
  return tell(
    deps,
    rows.toSorted((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0)),
  );
}

/**
 * queued → running, without a signal: the oldest of the highest priority. Scans the index of ready jobs, so it is for
 * the time when Redis is away. Claimers side by side skip each other's rows.
 */
export async function claimReady(deps: Deps, jobs_max: number, claimer: Claimer): Promise<Lease[]> {
  const { sql } = deps.database;
  const rows = await bounded(
    deps.database,
    sql<Lease[]>`
    UPDATE jobs SET ${leaseColumns(deps, claimer)}
    WHERE id = ANY(ARRAY(
      SELECT ready.id
      FROM unnest(${textArray(claimer.queues)}::text[]) AS served(queue),
           LATERAL (SELECT id, priority, run_at FROM jobs
                    WHERE status = 'queued' AND tenant = ${claimer.tenant} AND jobs.queue = served.queue
                    ORDER BY priority DESC, run_at, id LIMIT ${jobs_max}
                    FOR UPDATE SKIP LOCKED) AS ready
      ORDER BY ready.priority DESC, ready.run_at, ready.id LIMIT ${jobs_max}))
      AND status = 'queued'
    RETURNING ${returned(deps)}`,
  );
  return tell(
    deps,
    rows.toSorted((a, b) => b.priority - a.priority || a.run_at.getTime() - b.run_at.getTime()),
  );
}

function leaseColumns({ database: { sql } }: Deps, claimer: Claimer) {
  return sql`
    status = 'running', attempts = attempts + 1, lease_token = gen_random_uuid(), worker_id = ${claimer.worker_id},
    locked_until = now() + make_interval(secs => ${claimer.lease_seconds}::float8), started_at = now(), updated_at = now()`;
}

function returned({ database: { sql } }: Deps) {
  return sql`id, tenant, queue, type, priority, attempts, max_attempts, payload, timeout_seconds, backoff, run_at,
    created_at, last_error, lease_token, locked_until, started_at, worker_id`;
}

function tell(deps: Deps, leases: Lease[]): Lease[] {
  for (const lease of leases) deps.observe({ event: "lease_acquired", ...aboutLease(lease) });
  return leases;
}

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
