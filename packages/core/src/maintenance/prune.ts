import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { byHalves, idAfter } from "./by-halves.ts";
import { endedFlows } from "../flows/keeping/ended-flows.ts";
import type { Deps } from "../deps.ts";
import { firstIdAt, type JobRetention } from "./retention.ts";
import { unique_check_seconds } from "../submit/unique/verdict.ts";
import { removeJobs } from "../jobs/remove.ts";

/**
 * `next` is where the next step continues; undefined when the pass has reached jobs that are too young. `failed` is why a
 * job was passed over.
 */
export type Pruned = { jobs: number; dead: string[]; next: string | undefined; failed?: unknown };

export const firstId = "00000000-0000-0000-0000-000000000000";
const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * succeeded | cancelled | dead → gone, with their attempts, when they finished longer ago than they are kept, and no
 * key that still holds names them, neither an idempotency key nor a unique one with a window, nor may come to. A step looks at
 * `jobs_max` jobs in id order, which is the order of creation, so that no index on the finishing time is needed. Jobs
 * that are kept, or of which a row is locked, or whose flow is not over, are skipped until the next pass, and so is one
 * that cannot be removed. While another process is taking a step there
 * is nothing to do, and the pass is over.
 *
 * @example
 * const { next } = await prune(deps, retention, firstId, 1_000);
 */
export async function prune(deps: Deps, retention: JobRetention, after: string, jobs_max: number): Promise<Pruned> {
  const youngest_hours = Math.min(retention.succeeded_hours, retention.dead_hours);
  const [clock] = await executeOn(deps.database)<{ before: Date }>({
    text: "SELECT now() - make_interval(secs => $1::float8) AS before",
    params: [youngest_hours * 3_600],
  });
  return pruneBetween(deps, retention, after, firstIdAt(clock?.before ?? new Date(0)), jobs_max);
}

/**
 * The same for jobs whose ids are of a time still to come: whatever made them had a clock that was far ahead, and they
 * must not stay until the others get there. There are seldom any.
 *
 * @example
 * const { next } = await pruneAhead(deps, retention, firstId, 1_000);
 */
export async function pruneAhead(
  deps: Deps,
  retention: JobRetention,
  after: string,
  jobs_max: number,
): Promise<Pruned> {
  const [clock] = await executeOn(deps.database)<{ ahead: Date }>({
    text: "SELECT now() + interval '1 day' AS ahead",
    params: [],
  });
  const first = firstIdAt(clock?.ahead ?? new Date(0));
  return pruneBetween(deps, retention, after < first ? first : after, lastId, jobs_max);
}

const pruneBetween = (
  deps: Deps,
  retention: JobRetention,
  after: string,
  before: string,
  jobs_max: number,
): Promise<Pruned> =>
  byHalves<Pruned>(
    jobs_max,
    (rows) => prunePage(deps, retention, after, before, rows),
    async (failed) => ({ jobs: 0, dead: [], next: await idAfter(deps, after), failed }),
  );

async function prunePage(
  deps: Deps,
  { succeeded_hours, dead_hours }: JobRetention,
  after: string,
  before: string,
  jobs_max: number,
): Promise<Pruned> {
  const [step] = await executeOn(deps.database)<Step>({
    text: pruneStep,
    params: [after, before, jobs_max, succeeded_hours * 3_600, dead_hours * 3_600],
  });
  const more = step !== undefined && step.looked_at === jobs_max;
  return { jobs: step?.jobs ?? 0, dead: step?.dead ?? [], next: more ? (step.last ?? undefined) : undefined };
}

type Step = { looked_at: number; last: string | null; jobs: number; dead: string[] | null };

/**
 * How long after the end of a unique key's time its job stays: a request may have seen it in time, be answered with it,
 * and note its idempotency key for it only now. Longer than a look and a statement can take.
 */
const answering_seconds_max = 60;

/** For the advisory lock that keeps several processes' steps apart: any number no one else uses. */
const pruning = 4_715_308_921;

/** $1 after, $2 before, $3 jobs, $4 and $5 how many seconds succeeded and dead ones are kept. */
const pruneStep = composed(
  "maintenance/prune",
  ["after", "before", "jobs_max", "succeeded_seconds", "dead_seconds"],
  `
  WITH turn AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(${pruning}) AS ours
  ), old AS MATERIALIZED (
    SELECT id FROM jobs WHERE (SELECT ours FROM turn) AND id > $1::text::uuid AND id < $2::text::uuid
    ORDER BY id LIMIT $3::int
  ), free AS MATERIALIZED (
    SELECT id, flow_id, has_children, has_steps, xmin AS version FROM jobs
    WHERE id = ANY(ARRAY(SELECT id FROM old)) AND (
      (status IN ('succeeded', 'cancelled') AND finished_at < now() - make_interval(secs => $4::float8))
      OR (status = 'dead' AND finished_at < now() - make_interval(secs => $5::float8)))
      AND (kept_until IS NULL OR kept_until <= now())
      AND NOT EXISTS (SELECT FROM idempotency_keys AS known WHERE known.job_id = jobs.id AND noted AND expires_at > now())
      AND NOT EXISTS (
        SELECT FROM unique_keys AS known WHERE known.job_id = jobs.id
          AND coalesce(window_ends_at, jobs.finished_at) > now() - make_interval(secs => ${answering_seconds_max}))
      AND NOT EXISTS (SELECT FROM arrivals WHERE arrivals.job_id = jobs.id)
    FOR UPDATE SKIP LOCKED
  ), ${endedFlows("free")}, ${removeJobs("ended")}
  SELECT (SELECT count(*)::int FROM old) AS looked_at, (SELECT max(id::text) FROM old) AS last,
         (SELECT count(*)::int FROM gone) AS jobs, (SELECT json_agg(id) FROM gone WHERE status = 'dead') AS dead`,
);

/** Forget a bounded number of expired idempotency keys. Returns how many there were. */
export async function pruneKeys(deps: Deps, keys_max: number): Promise<number> {
  const [row] = await executeOn(deps.database)<{ gone: number }>({ text: pruneSpent, params: [keys_max] });
  return row?.gone ?? 0;
}

const pruneSpent = composed(
  "maintenance/prune-keys",
  ["keys_max"],
  `
  WITH gone AS (
    DELETE FROM idempotency_keys WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM idempotency_keys WHERE expires_at <= now() ORDER BY expires_at LIMIT $1::int
      FOR UPDATE SKIP LOCKED))
      AND expires_at <= now()
    RETURNING 1
  )
  SELECT count(*)::int AS gone FROM gone`,
);

/**
 * Forget unique keys no job holds, among a bounded number due for a look. Returns how many it looked at. A key taken
 * meanwhile gets another time for its look, so its row is found locked, or changed, and stays.
 */
export async function pruneUniqueKeys(deps: Deps, keys_max: number): Promise<number> {
  const [row] = await executeOn(deps.database)<{ looked_at: number }>({ text: pruneUnique, params: [keys_max] });
  return row?.looked_at ?? 0;
}

const pruneUnique = composed(
  "maintenance/prune-unique-keys",
  ["keys_max"],
  `
  WITH due AS MATERIALIZED (
    SELECT tenant, queue, key, job_id, window_ends_at FROM unique_keys WHERE check_at <= now()
    ORDER BY check_at LIMIT $1::int FOR UPDATE SKIP LOCKED
  ), needed AS MATERIALIZED (
    SELECT due.tenant, due.queue, due.key FROM due JOIN jobs ON jobs.id = due.job_id
    WHERE window_ends_at IS NULL AND status NOT IN ('succeeded', 'dead', 'cancelled')
  ), kept AS (
    UPDATE unique_keys SET check_at = now() + make_interval(secs => ${unique_check_seconds})
    WHERE (tenant, queue, key) IN (SELECT tenant, queue, key FROM needed)
  ), gone AS (
    DELETE FROM unique_keys WHERE (tenant, queue, key) IN (SELECT tenant, queue, key FROM due)
      AND (tenant, queue, key) NOT IN (SELECT tenant, queue, key FROM needed)
  )
  SELECT count(*)::int AS looked_at FROM due`,
);
