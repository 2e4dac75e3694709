import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { unique_check_seconds } from "../submit/unique/verdict.ts";

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
    DELETE FROM atlasqueue.idempotency_keys WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.idempotency_keys WHERE expires_at <= now() ORDER BY expires_at LIMIT $1::int
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
    SELECT tenant, queue, key, job_id, window_ends_at FROM atlasqueue.unique_keys WHERE check_at <= now()
    ORDER BY check_at LIMIT $1::int FOR UPDATE SKIP LOCKED
  ), needed AS MATERIALIZED (
    SELECT due.tenant, due.queue, due.key FROM due JOIN atlasqueue.jobs ON jobs.id = due.job_id
    WHERE window_ends_at IS NULL AND status NOT IN ('succeeded', 'dead', 'cancelled')
  ), kept AS (
    UPDATE atlasqueue.unique_keys SET check_at = now() + make_interval(secs => ${unique_check_seconds})
    WHERE (tenant, queue, key) IN (SELECT tenant, queue, key FROM needed)
  ), gone AS (
    DELETE FROM atlasqueue.unique_keys WHERE (tenant, queue, key) IN (SELECT tenant, queue, key FROM due)
      AND (tenant, queue, key) NOT IN (SELECT tenant, queue, key FROM needed)
  )
  SELECT count(*)::int AS looked_at FROM due`,
);
