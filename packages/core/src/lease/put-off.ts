import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/**
 * Have the claims whose leases are due to be looked at looked at that many seconds later, `claims_max` of them at most,
 * and resolve with how many. Once it is answered, the server takes writes again, and whoever holds one of these leases has
 * the time to say what becomes of it.
 *
 * @example
 * await putOff(deps, 3, 1_000); // 12
 */
export async function putOff(deps: Deps, seconds: number, claims_max: number): Promise<number> {
  const [row] = await executeOn(deps.database)<{ claims: number }>({ text: later, params: [seconds, claims_max] });
  return row?.claims ?? 0;
}

// Synced to disk, unlike other writes of claims: a full disk must show here.
const later = composed(
  "lease/put-off",
  ["seconds", "claims_max"],
  `
  WITH due AS MATERIALIZED (
    SELECT token FROM lease_batches WHERE check_at <= now() ORDER BY check_at LIMIT $2::int FOR UPDATE SKIP LOCKED
  ), later AS (
    UPDATE lease_batches SET check_at = now() + make_interval(secs => $1::float8)
    FROM due WHERE lease_batches.token = due.token RETURNING 1
  )
  SELECT count(*)::int AS claims FROM later`,
);
