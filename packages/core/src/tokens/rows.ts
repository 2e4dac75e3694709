import { getTableColumns, sql } from "../database/drizzle.ts";
import { tokens } from "../database/schema/index.ts";

const { id, name, hint, scopes, created_at, expires_at, last_used_at } = getTableColumns(tokens);

/** What may be read of a token: never its hash. */
export const shown = { id, name, hint, scopes, created_at, expires_at, last_used_at };
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
export const worksNow = sql.raw(isLive);
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
