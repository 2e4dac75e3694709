import { composed } from "../database/composed.ts";
import type { Scope } from "@atlasqueue/contract";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import { newToken } from "./token.ts";
import {
  madeBy,
  roomForAnother,
  rowMade,
  tokenColumns,
  withoutExpired,
  type MadeToken,
  type TokenRow,
} from "./rows.ts";

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
  const { tenant, name, expires_in_seconds, made_by = "" } = wish;
  const { token, hash, hint } = newToken();
  const scopes = textArray([...new Set(wish.scopes)]);
  // "" means no expiry: PostgreSQL could not infer the type of a null parameter.
  const params = [tenant, newId(), name, hash, hint, scopes, String(expires_in_seconds ?? ""), made_by];
  const [answer] = await executeOn(deps.database)<Answer>({ text, params });
  if (!answer?.maker) return { kind: "maker_gone" };
  const { seconds_max, made } = answer;
  if (seconds_max !== null && (expires_in_seconds ?? 0) > seconds_max) return { kind: "outlives", seconds_max };
  if (!made) return { kind: "too_many" };
  deps.observe({ event: "token_created", tenant, token_id: made.id });
  return { kind: "created", token, row: rowMade(made) };
}

/** `seconds_max`: how long the token that asks for it still works, if it ends. */
type Answer = { maker: boolean; seconds_max: number | null; made: TokenRow | null };

const text = composed(
  "tokens/create",
  ["tenant", "id", "name", "hash", "hint", "scopes", "expires_in_seconds", "made_by"],
  `
  WITH ${withoutExpired}, maker AS MATERIALIZED (
    SELECT expires_at, floor(extract(epoch FROM expires_at - now()))::float8 AS seconds_max FROM ${madeBy("$8")} AS asking
  ), made AS (
    INSERT INTO atlasqueue.tokens (tenant, id, name, hash, hint, scopes, expires_at)
    SELECT $1, $2::text::uuid, $3, decode($4, 'hex'), $5, $6::text[],
           least(now() + make_interval(secs => nullif($7::text, '')::float8), (SELECT expires_at FROM maker))
    WHERE ${roomForAnother} AND ($8::text = '' OR EXISTS (SELECT FROM maker))
      AND NOT EXISTS (SELECT FROM maker WHERE seconds_max < nullif($7::text, '')::float8)
    RETURNING ${tokenColumns}
  )
  SELECT $8::text = '' OR EXISTS (SELECT FROM maker) AS maker, (SELECT seconds_max FROM maker) AS seconds_max,
         (SELECT to_json(made) FROM made) AS made`,
);
