import type { Scope } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { textArray, numberArray, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isLive, standsFor } from "./rows.ts";
import { asyncCommit } from "../database/clauses.ts";

/** Whose a token is and what it allows. `expires_in_ms` counts from the query. */
export type FoundToken = { id: string; name: string; tenant: string; scopes: Scope[]; expires_in_ms: number | null };

/**
 * By the hashes (`hashToken`), the tokens that have them and those that the sessions with them stand for, until
 * whichever ends first; without those that were revoked or have expired. The one query without a tenant in its WHERE:
 * it is what finds the tenant.
 *
 * @example
 * const found = await findTokens(deps, [hashToken("aq_…")]);
 */
export async function findTokens(
  deps: Pick<Deps, "database">,
  hashes: readonly string[],
): Promise<Map<string, FoundToken>> {
  const rows = await executeOn(deps.database)<FoundToken & { hash: string }>({ text, params: [textArray(hashes)] });
  return new Map(rows.map(({ hash, ...found }) => [hash, found]));
}

const isGiven = "ANY(ARRAY(SELECT decode(given, 'hex') FROM unnest($1::text[]) AS given))";
const token = (hash: string, ends: string) => `
  SELECT encode(${hash}, 'hex') AS hash, tokens.id, name, tokens.tenant, to_json(scopes) AS scopes,
         (extract(epoch FROM ${ends} - now()) * 1000)::float8 AS expires_in_ms`;

const text = composed(
  "tokens/find",
  ["hashes"],
  `${token("hash", "expires_at")}
  FROM atlasqueue.tokens WHERE hash = ${isGiven} AND ${isLive}
  UNION ALL${token("sessions.hash", "least(sessions.expires_at, tokens.expires_at)")}
  FROM atlasqueue.sessions JOIN atlasqueue.tokens ON tokens.tenant = sessions.tenant AND tokens.id = token_id
  WHERE sessions.hash = ${isGiven} AND sessions.expires_at > now() AND ${standsFor}`,
);

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

/** Skips a token that another transaction has locked, to rotate or revoke it. Its next use is stored again. */
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
