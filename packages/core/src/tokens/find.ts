import type { Scope } from "@atlasqueue/contract";
import { and, eq, sql } from "../database/drizzle.ts";
import { plain } from "../database/plain.ts";
import { tokens } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { worksNow } from "./rows.ts";

/** Whose a token is and what it allows. `expires_in_ms` counts from the query. */
export type FoundToken = { id: string; name: string; tenant: string; scopes: Scope[]; expires_in_ms: number | null };

const expires_in_ms = sql<number | null>`(extract(epoch FROM ${tokens.expires_at} - now()) * 1000)::float8`;

/**
 * The token with this hash (`hashToken`), or undefined when there is none, it was revoked or it has expired. The one
 * query without a tenant in its WHERE: it is what finds the tenant.
 *
 * @example
 * const found = await findToken(deps, hashToken("aq_…"));
 */
export async function findToken(deps: Pick<Deps, "database">, hash: string): Promise<FoundToken | undefined> {
  const { id, name, tenant, scopes } = tokens;
  const [row] = await plain(deps.database, (db) =>
    db
      .select({ id, name, tenant, scopes, expires_in_ms })
      .from(tokens)
      .where(and(eq(tokens.hash, Buffer.from(hash, "hex")), worksNow)),
  );
  return row;
}
