import { getTableColumns, sql, and, desc, eq } from "../database/drizzle.ts";
import { tokens } from "../database/schema/index.ts";
import { limits, type Token } from "@atlasqueue/contract";
import { plain } from "../database/plain.ts";
import type { Deps } from "../deps.ts";

const { id, name, hint, scopes, created_at, expires_at, last_used_at } = getTableColumns(tokens);

/** What may be read of a token: never its hash. */
const shown = { id, name, hint, scopes, created_at, expires_at, last_used_at };
export type TokenRow = Pick<typeof tokens.$inferSelect, keyof typeof shown>;

/** A stored token, with the text that is shown only this once. */
export type MadeToken = { token: string; row: TokenRow };

export const tokenColumns = Object.keys(shown).join(", ");

/** A row that was made, from JSON, which has its times as text. */
export function rowMade(row: TokenRow): TokenRow {
  const ends = row.expires_at && new Date(row.expires_at);
  return { ...row, created_at: new Date(row.created_at), expires_at: ends };
}

/** A condition on rows of `tokens` that are valid now. */
export const isLive = "(tokens.expires_at IS NULL OR tokens.expires_at > now())";
const worksNow = sql.raw(isLive);
/** A session works while its token does, and a replaced token's ends at once, whatever overlap its programs have. */
export const standsFor = `tokens.rotated_to IS NULL AND ${isLive}`;

/**
 * The sessions of the tokens of tenant $1 that these have replaced ended with that. They must not come back as nothing
 * replaces their tokens any more.
 */
export function endSessionsBefore(gone: string): string {
  return `ended_sessions AS (
    DELETE FROM atlasqueue.sessions WHERE tenant = $1 AND token_id IN (SELECT id FROM atlasqueue.tokens WHERE tenant = $1 AND rotated_to IN (SELECT id FROM ${gone}))
  )`;
}

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
