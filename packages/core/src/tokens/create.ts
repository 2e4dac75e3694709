import { composed } from "../database/composed.ts";
import type { Scope } from "@atlasqueue/contract";
import { textArray } from "../database/literals.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import { newToken } from "./token.ts";
import { madeBy, roomForAnother, tokenColumns, withoutExpired, type MadeToken, type TokenRow } from "./rows.ts";

export type TokenWish = {
  tenant: string;
  name: string;
  scopes: readonly Scope[];
  /** Without it the token does not expire. */
  expires_in_seconds?: number | undefined;
  /** The id of the requesting token, which it does not outlive. */
  made_by?: string | undefined;
};

export type CreateTokenOutcome =
  | ({ kind: "created" } & MadeToken)
  /** The tenant has as many valid tokens as it may. */
  | { kind: "too_many" }
  /** It would outlive the token that asks for it. */
  | { kind: "outlives"; seconds_max: number }
  /** The token that asks for it is no longer valid. */
  | { kind: "maker_gone" };

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
  const { made_by = "" } = wish;
  if (made_by !== "") {
    const [maker] = await execute<{ seconds: number | null }>({ text: secondsLeft, params: [wish.tenant, made_by] });
    if (!maker) return { kind: "maker_gone" };
    const seconds_max = Math.floor(maker.seconds ?? Infinity);
    if ((wish.expires_in_seconds ?? 0) > seconds_max) return { kind: "outlives", seconds_max };
  }
  const { token, hash, hint } = newToken();
  // "" means no expiry: PostgreSQL could not infer the type of a null parameter.
  const seconds = wish.expires_in_seconds === undefined ? "" : String(wish.expires_in_seconds);
  const scopes = textArray([...new Set(wish.scopes)]);
  const params = [wish.tenant, newId(), wish.name, hash, hint, scopes, seconds, made_by];
  const [row] = await execute<TokenRow>({ text: insert, params });
  return row ? { kind: "created", token, row } : { kind: "too_many" };
}

const secondsLeft = composed(
  "tokens/seconds-left",
  ["tenant", "made_by"],
  `SELECT extract(epoch FROM expires_at - now())::float8 AS seconds FROM ${madeBy("$2")} AS maker`,
);

const insert = composed(
  "tokens/create",
  ["tenant", "id", "name", "hash", "hint", "scopes", "expires_in_seconds", "made_by"],
  `
  WITH ${withoutExpired}, maker AS ${madeBy("$8")}
  INSERT INTO atlasqueue.tokens (tenant, id, name, hash, hint, scopes, expires_at)
  SELECT $1, $2::text::uuid, $3, decode($4, 'hex'), $5, $6::text[],
         least(now() + make_interval(secs => nullif($7::text, '')::float8), (SELECT expires_at FROM maker))
  WHERE ${roomForAnother} AND ($8::text = '' OR EXISTS (SELECT FROM maker))
  RETURNING ${tokenColumns}`,
);
