import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import { newToken } from "./token.ts";
import {
  isLive,
  madeBy,
  roomForAnother,
  rowMade,
  tokenColumns,
  withoutExpired,
  type MadeToken,
  type TokenRow,
} from "./rows.ts";

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
  const { tenant, id, overlap_seconds, made_by = "" } = wish;
  const { token, hash, hint } = newToken();
  const [answer] = await executeOn(deps.database)<Answer>({
    text: rotate,
    params: [tenant, id, overlap_seconds, newId(), hash, hint, made_by],
  });
  if (!answer?.maker) return { kind: "maker_gone" };
  if (!answer.found) return { kind: "unknown" };
  if (answer.successor !== null) return { kind: "rotated_before", successor: answer.successor };
  if (!answer.made) return { kind: "too_many" };
  deps.observe({ event: "token_rotated", tenant, token_id: id });
  return { kind: "rotated", token, row: rowMade(answer.made) };
}

type Answer = { maker: boolean; found: boolean; successor: string | null; made: TokenRow | null };

/**
 * The old row is locked, so that of two simultaneous rotations the second sees what the first did: only the row itself
 * is re-read after the wait, so what the second must know is in that row.
 */
const rotate = composed(
  "tokens/rotate",
  ["tenant", "id", "overlap_seconds", "new_id", "hash", "hint", "made_by"],
  `
  WITH ${withoutExpired}, maker AS ${madeBy("$7")}, before AS MATERIALIZED (
    SELECT *, coalesce(own_expires_at, expires_at, 'infinity') AS own_end
    FROM atlasqueue.tokens WHERE tenant = $1 AND id = $2::text::uuid AND ${isLive} FOR UPDATE
  ), made AS (
    INSERT INTO atlasqueue.tokens (tenant, id, name, hash, hint, scopes, expires_at)
    SELECT tenant, $4::text::uuid, name, decode($5, 'hex'), $6, scopes,
      least(now() + (nullif(own_end, 'infinity') - created_at), (SELECT expires_at FROM maker))
    FROM before
    WHERE rotated_to IS NULL AND ${roomForAnother} AND ($7::text = '' OR EXISTS (SELECT FROM maker))
    RETURNING ${tokenColumns}
  ), ending AS (
    UPDATE atlasqueue.tokens
    SET expires_at = least(tokens.expires_at, now() + make_interval(secs => $3::float8)),
      own_expires_at = before.own_end, rotated_to = made.id
    FROM before, made WHERE tokens.id = before.id
  )
  SELECT $7::text = '' OR EXISTS (SELECT FROM maker) AS maker, EXISTS (SELECT FROM before) AS found,
    (SELECT rotated_to FROM before) AS successor, (SELECT to_json(made) FROM made) AS made`,
);
