import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

type Terms = {
  /** So much later they are looked at. */
  seconds: number;
  /** Those that anybody has put off within so many seconds have had their time. */
  once_in_seconds: number;
  claims_max: number;
};

/**
 * Have the claims whose leases are due to be looked at looked at later, and resolve with how many. Once it is answered,
 * the server takes writes again, and whoever holds one of these leases has the time to say what becomes of it.
 *
 * @example
 * await putOff(deps, { seconds: 3, once_in_seconds: 8, claims_max: 1_000 }); // 12
 */
export async function putOff(deps: Deps, { seconds, once_in_seconds, claims_max }: Terms): Promise<number> {
  const params = [seconds, once_in_seconds, claims_max];
  const [row] = await executeOn(deps.database)<{ claims: number }>({ text: later, params });
  return row?.claims ?? 0;
}

// Synced to disk, unlike other writes of claims: a full disk must show here.
const later = composed(
  "lease/put-off",
  ["seconds", "once_in_seconds", "claims_max"],
  `
  WITH due AS MATERIALIZED (
    SELECT token FROM atlasqueue.claims
    WHERE check_at <= now() AND (put_off_at BETWEEN now() - make_interval(secs => $2::float8) AND now()) IS NOT TRUE
    ORDER BY check_at LIMIT $3::int FOR UPDATE SKIP LOCKED
  ), later AS (
    UPDATE atlasqueue.claims SET check_at = now() + make_interval(secs => $1::float8), put_off_at = now()
    WHERE token = ANY(ARRAY(SELECT token FROM due)) RETURNING 1
  )
  SELECT count(*)::int AS claims FROM later`,
);
