import { composed } from "../database/composed.ts";
import { numberArray, textArray, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import { asyncCommit } from "../database/clauses.ts";
import type { Deps } from "../deps.ts";

/** How long ago a token was last used. */
export type TokenUse = { tenant: string; id: string; ms_ago: number };

/**
 * Record when tokens were last used, many at once and now and then: a crash forgets a minute of it. Processes may write
 * in any order, so the latest time stays.
 */
export async function noteTokenUse(deps: Pick<Deps, "database">, uses: readonly TokenUse[]): Promise<void> {
  if (uses.length === 0) return;
  const params = [
    textArray(uses.map(({ tenant }) => tenant)),
    uuidArray(uses.map(({ id }) => id)),
    numberArray(uses.map(({ ms_ago }) => ms_ago)),
  ];
  await executeOn(deps.database)({ text: note, params });
}

/**
 * A token that somebody has locked, to rotate or revoke it, is left out: its next use is noted.
 */
const note = composed(
  "tokens/note-use",
  ["tenants", "ids", "ms_ago"],
  `
  WITH used AS (
    SELECT tokens.tenant, tokens.id, now() - make_interval(secs => used.ms_ago / 1000) AS at
    FROM unnest($1::text[], $2::uuid[], $3::float8[]) AS used(tenant, id, ms_ago) JOIN atlasqueue.tokens USING (tenant, id)
    FOR NO KEY UPDATE OF tokens SKIP LOCKED
  )
  UPDATE atlasqueue.tokens SET last_used_at = greatest(last_used_at, used.at)
  FROM used WHERE tokens.tenant = used.tenant AND tokens.id = used.id AND ${asyncCommit}`,
);
