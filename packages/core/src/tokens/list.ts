import { limits, type Token } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isLive, tokenColumns, type TokenRow } from "./rows.ts";

const list = `
  SELECT ${tokenColumns} FROM tokens WHERE tenant = $1 AND ${isLive} ORDER BY id DESC LIMIT ${limits.tokens_max}`;

/** A tenant's working tokens, newest first: as many as there may be, so all of them. */
export async function listTokens(deps: Pick<Deps, "database">, tenant: string): Promise<TokenRow[]> {
  return [...(await executeOn(deps.database)<TokenRow>({ text: list, params: [tenant] }))];
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
