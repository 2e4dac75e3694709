import { composed } from "../database/composed.ts";
import { limits, type Scope } from "@atlasqueue/contract";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import { newToken } from "./token.ts";
import { endSessionsBefore, isLive, rowMade, tokenColumns, type MadeToken, type TokenRow } from "./rows.ts";
import { lockTimeout } from "../database/clauses.ts";

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
  const { tenant, expires_in_seconds = 0 } = wish;
  const { maker, seconds_max, made } = await makeToken(deps, wish);
  if (!maker) return { kind: "maker_gone" };
  if (seconds_max !== null && expires_in_seconds > seconds_max) return { kind: "outlives", seconds_max };
  if (!made) return { kind: "too_many" };
  deps.observe({ event: "token_created", tenant, token_id: made.row.id });
  return { kind: "created", ...made };
}

/**
 * `maker`: whether the token that asks for it is valid, and `seconds_max` how long it still works, if it ends. `found` and
 * `successor` are of the token that was to be replaced.
 */
type Making = { maker: boolean; seconds_max: number | null; found: boolean; successor: string | null };

/** Make a token as it is wished for, or, in place of another one, with what that has. */
async function makeToken(
  deps: Pick<Deps, "database">,
  wish: Partial<TokenWish> & { tenant: string },
  replaced: { id: string; overlap_seconds: number } = { id: "", overlap_seconds: 0 },
): Promise<Making & { made: MadeToken | undefined }> {
  const { tenant, name = "", expires_in_seconds, made_by = "" } = wish;
  const { token, hash, hint } = newToken();
  const scopes = textArray([...new Set(wish.scopes)]);
  // "" means no expiry: PostgreSQL could not infer the type of a null parameter.
  const wished = [name, scopes, String(expires_in_seconds ?? "")];
  const params = [tenant, newId(), hash, hint, made_by, ...wished, replaced.id, replaced.overlap_seconds];
  const [answer] = await executeOn(deps.database)<Making & { made: TokenRow | null }>({ text, params });
  if (!answer) throw new Error("making a token gave no row");
  return { ...answer, made: answer.made ? { token, row: rowMade(answer.made) } : undefined };
}

// Expired tokens of the tenant are deleted, except those that another transaction has locked, as when their use is noted:
// two that delete many in different orders would wait for each other. A tenant may have as many valid ones as its list shows, so that
// none can hide. Two simultaneous callers may exceed it by one, which does no harm. The row of the replaced one is locked, so that of two
// simultaneous rotations the second sees what the first did: only the row itself is read again after the wait.
const text = composed(
  "tokens/make",
  "tenant id hash hint made_by name scopes expires_in_seconds replaced overlap_seconds".split(" "),
  `
  WITH gone AS (
    DELETE FROM atlasqueue.tokens WHERE tenant = $1 AND id = ANY(ARRAY(
      SELECT id FROM atlasqueue.tokens WHERE tenant = $1 AND NOT ${isLive} FOR UPDATE SKIP LOCKED))
    RETURNING id
  ), ${endSessionsBefore("gone")}, maker AS MATERIALIZED (
    SELECT expires_at, floor(extract(epoch FROM expires_at - now()))::float8 AS seconds_max
    FROM atlasqueue.tokens WHERE tenant = $1 AND id = nullif($5::text, '')::uuid AND ${isLive}
  ), before AS MATERIALIZED (
    SELECT *, coalesce(own_expires_at, expires_at, 'infinity') AS own_end
    FROM atlasqueue.tokens WHERE tenant = $1 AND id = nullif($9::text, '')::uuid AND ${isLive} FOR UPDATE
  ), wish AS (
    SELECT $6 AS name, $7::text[] AS scopes, now() + make_interval(secs => nullif($8::text, '')::float8) AS expires_at
    WHERE $9::text = '' AND NOT EXISTS (SELECT FROM maker WHERE seconds_max < nullif($8::text, '')::float8)
    UNION ALL
    SELECT name, scopes, now() + (nullif(own_end, 'infinity') - created_at) FROM before WHERE rotated_to IS NULL
  ), made AS (
    INSERT INTO atlasqueue.tokens (tenant, id, name, hash, hint, scopes, expires_at)
    SELECT $1, $2::text::uuid, name, decode($3, 'hex'), $4, scopes, least(expires_at, (SELECT expires_at FROM maker)) FROM wish
    WHERE (SELECT count(*) FROM atlasqueue.tokens WHERE tenant = $1 AND ${isLive}) < ${limits.tokens_max}
      AND ($5::text = '' OR EXISTS (SELECT FROM maker))
    RETURNING ${tokenColumns}
  ), ending AS (
    UPDATE atlasqueue.tokens
    SET expires_at = least(tokens.expires_at, now() + make_interval(secs => $10::float8)),
      own_expires_at = before.own_end, rotated_to = made.id
    FROM before, made WHERE tokens.id = before.id
  )
  SELECT $5::text = '' OR EXISTS (SELECT FROM maker) AS maker, (SELECT seconds_max FROM maker) AS seconds_max,
         EXISTS (SELECT FROM before) AS found, (SELECT rotated_to FROM before) AS successor, (SELECT to_json(made) FROM made) AS made`,
);

export type RotateTokenOutcome =
  | ({ kind: "rotated" } & MadeToken)
  /** There is no such token, it has expired, or it is another tenant's. */
  | { kind: "unknown" }
  /** It already has a successor. */
  | { kind: "rotated_before"; successor: string }
  /** The token that asks for it is no longer valid. */
  | { kind: "maker_gone" }
  | { kind: "too_many" };

/**
 * Replace a token with a new one of the same name, scopes and lifetime. The old one works for `overlap_seconds` more,
 * but never longer than it would have, so that its holders can switch one by one. A token has one successor, however
 * many ask at once; when that is revoked, it can be rotated again. The new one does not outlive the token that asks for
 * it, `made_by`.
 *
 * @example
 * const rotated = await rotateToken(deps, { tenant: "default", id, overlap_seconds: 3_600 });
 */
export async function rotateToken(
  deps: Deps,
  wish: { tenant: string; id: string; overlap_seconds: number; made_by?: string | undefined },
): Promise<RotateTokenOutcome> {
  const { tenant, id } = wish;
  const { maker, found, successor, made } = await makeToken(deps, { tenant, made_by: wish.made_by }, wish);
  if (!maker) return { kind: "maker_gone" };
  if (!found) return { kind: "unknown" };
  if (successor !== null) return { kind: "rotated_before", successor };
  if (!made) return { kind: "too_many" };
  deps.observe({ event: "token_rotated", tenant, token_id: id });
  return { kind: "rotated", ...made };
}

/**
 * Delete a token; no process accepts it beyond the few seconds it remembers tokens for. False when there is none with
 * this id, or it is another tenant's.
 *
 * @example
 * const known = await revokeToken(deps, "default", id);
 */
export async function revokeToken(deps: Deps, tenant: string, id: string): Promise<boolean> {
  const gone = await executeOn(deps.database)<{ id: string }>({ text: revoke, params: [tenant, id] });
  if (gone.length === 0) return false;
  deps.observe({ event: "token_revoked", tenant, token_id: id });
  return true;
}

const revoke = composed(
  "tokens/revoke",
  ["tenant", "id"],
  `
  WITH gone AS (
    DELETE FROM atlasqueue.tokens WHERE tenant = $1 AND id = $2::text::uuid AND ${lockTimeout} RETURNING id
  ), ${endSessionsBefore("gone")}
  SELECT id FROM gone`,
);
