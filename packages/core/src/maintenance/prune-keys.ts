import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

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
