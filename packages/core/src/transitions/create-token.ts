import type { Scope } from "@atlasqueue/contract";
import { textArray } from "../database/literals.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import { newToken } from "../policy/token.ts";
import { isLive, roomForAnother, tokenColumns, type MadeToken, type TokenRow } from "./token-rows.ts";

export type TokenWish = {
  tenant: string;
  name: string;
  scopes: readonly Scope[];
  /** Without it the token does not expire. */
  expires_in_seconds?: number | undefined;
};

export type CreateTokenOutcome =
  | ({ kind: "created" } & MadeToken)
  /** The tenant has as many working tokens as it may. */
  | { kind: "too_many" };

/**
 * Make a token. What is stored is its hash: `token` in the answer is the only copy there will ever be.
 *
 * @example
 * const made = await createToken(deps, { tenant: "default", name: "ci", scopes: ["submit"] });
 */
export async function createToken(deps: Deps, wish: TokenWish): Promise<CreateTokenOutcome> {
  const outcome = await createTokenWith(executeOn(deps.database), wish);
  if (outcome.kind === "created")
    deps.observe({ event: "token_created", tenant: wish.tenant, token_id: outcome.row.id });
  return outcome;
}

async function createTokenWith(execute: Execute, wish: TokenWish): Promise<CreateTokenOutcome> {
  const { token, hash, hint } = newToken();
  // "" is no expiry: the type of a parameter that is null could not be told.
  const seconds = wish.expires_in_seconds === undefined ? "" : String(wish.expires_in_seconds);
  const scopes = textArray([...new Set(wish.scopes)]);
  const params = [wish.tenant, newId(), wish.name, hash, hint, scopes, seconds];
  const [row] = await execute<TokenRow>({ text: insert, params });
  return row ? { kind: "created", token, row } : { kind: "too_many" };
}

/** Those of the tenant that have expired are of no more use, and go. */
const insert = `
  WITH gone AS (DELETE FROM tokens WHERE tenant = $1 AND NOT ${isLive})
  INSERT INTO tokens (tenant, id, name, hash, hint, scopes, expires_at)
  SELECT $1, $2::text::uuid, $3, decode($4, 'hex'), $5, $6::text[],
         now() + make_interval(secs => nullif($7::text, '')::float8)
  WHERE ${roomForAnother}
  RETURNING ${tokenColumns}`;
