import type { Scope } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isLive } from "./rows.ts";

/** Whose a token is and what it allows. `expires_in_ms` counts from the query. */
export type FoundToken = { id: string; tenant: string; scopes: Scope[]; expires_in_ms: number | null };

/** The one query without a tenant in its WHERE: it is what finds out the tenant. */
const find = `
  SELECT id, tenant, to_json(scopes) AS scopes, (extract(epoch FROM expires_at - now()) * 1000)::float8 AS expires_in_ms
  FROM tokens WHERE hash = decode($1, 'hex') AND ${isLive}`;

/**
 * The token with this hash (`hashToken`), or undefined when there is none, it was revoked or it has expired.
 *
 * @example
 * const found = await findToken(deps, hashToken("aq_…"));
 */
export async function findToken(deps: Pick<Deps, "database">, hash: string): Promise<FoundToken | undefined> {
  const [row] = await executeOn(deps.database)<FoundToken>({ text: find, params: [hash] });
  return row;
}
