import type { Scope } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isLive } from "./rows.ts";

/** Whose a token is and what it allows. `expires_in_ms` counts from the query. */
export type FoundToken = { id: string; name: string; tenant: string; scopes: Scope[]; expires_in_ms: number | null };

/** By their hashes, those that were found. */
export type FindTokens = (deps: Pick<Deps, "database">, hashes: readonly string[]) => Promise<Map<string, FoundToken>>;

/**
 * The tokens with these hashes (`hashToken`), without those that were revoked or have expired. The one query without a
 * tenant in its WHERE: it is what finds the tenant.
 *
 * @example
 * const found = await findTokens(deps, [hashToken("aq_…")]);
 */
export const findTokens: FindTokens = (deps, hashes) => findBy(deps, tokensByHash, hashes);

/** The same for a statement that looks for something else that stands for a token. */
export async function findBy(deps: Pick<Deps, "database">, text: string, hashes: readonly string[]) {
  const params = [textArray(hashes)];
  const rows = await executeOn(deps.database)<FoundToken & { hash: string }>({ text, params });
  return new Map(rows.map(({ hash, ...found }) => [hash, found]));
}

export const hashesGiven = "ANY(ARRAY(SELECT decode(given, 'hex') FROM unnest($1::text[]) AS given))";

const tokensByHash = composed(
  "tokens/find",
  ["hashes"],
  `
  SELECT encode(hash, 'hex') AS hash, id, name, tenant, to_json(scopes) AS scopes,
         (extract(epoch FROM expires_at - now()) * 1000)::float8 AS expires_in_ms
  FROM atlasqueue.tokens WHERE hash = ${hashesGiven} AND ${isLive}`,
);
