import { limits, type Token } from "@atlasqueue/contract";
import { and, desc, eq } from "../database/drizzle.ts";
import { plain } from "../database/plain.ts";
import { tokens } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { shown, worksNow, type TokenRow } from "./rows.ts";

/** A tenant's valid tokens, newest first: as many as there may be, so all of them. */
export async function listTokens(deps: Pick<Deps, "database">, tenant: string): Promise<TokenRow[]> {
  return plain(deps.database, (db) =>
    db
      .select(shown)
      .from(tokens)
      .where(and(eq(tokens.tenant, tenant), worksNow))
      .orderBy(desc(tokens.id))
      .limit(limits.tokens_max),
  );
}

/** A row as the wire shows it. */
export function showToken(row: TokenRow): Token {
  return {
    id: row.id,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
  };
}
