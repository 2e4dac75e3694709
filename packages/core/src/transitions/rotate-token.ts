import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import { newToken } from "../policy/token.ts";
import { isLive, roomForAnother, type MadeToken, type TokenRow } from "./token-rows.ts";

export type RotateTokenOutcome =
  | ({ kind: "rotated" } & MadeToken)
  /** There is no such token, it has expired, or it is another tenant's. */
  | { kind: "unknown" }
  | { kind: "too_many" };

/**
 * Put a new token in another's place, of the same name, scopes and length of life. The old one works for
 * `overlap_seconds` more, and never longer than it would have, so that its holders can be changed one by one.
 *
 * @example
 * const rotated = await rotateToken(deps, { tenant: "default", id, overlap_seconds: 3_600 });
 */
export async function rotateToken(
  deps: Deps,
  { tenant, id, overlap_seconds }: { tenant: string; id: string; overlap_seconds: number },
): Promise<RotateTokenOutcome> {
  const { token, hash, hint } = newToken();
  const [answer] = await executeOn(deps.database)<{ found: boolean; made: TokenRow | null }>({
    text: rotate,
    params: [tenant, id, overlap_seconds, newId(), hash, hint],
  });
  if (!answer?.found) return { kind: "unknown" };
  if (!answer.made) return { kind: "too_many" };
  deps.observe({ event: "token_rotated", tenant, token_id: id });
  return { kind: "rotated", token, row: withDates(answer.made) };
}

/** The old row is locked, so that of two rotations at once the second sees what the first did. */
const rotate = `
  WITH before AS MATERIALIZED (
    SELECT * FROM tokens WHERE tenant = $1 AND id = $2::text::uuid AND ${isLive} FOR UPDATE
  ), made AS (
    INSERT INTO tokens (tenant, id, name, hash, hint, scopes, expires_at)
    SELECT tenant, $4::text::uuid, name, decode($5, 'hex'), $6, scopes, now() + (expires_at - created_at)
    FROM before WHERE ${roomForAnother}
    RETURNING id, name, hint, scopes, created_at, expires_at, last_used_at
  ), ending AS (
    UPDATE tokens SET expires_at = least(tokens.expires_at, now() + make_interval(secs => $3::float8))
    FROM before WHERE tokens.id = before.id AND EXISTS (SELECT FROM made)
  )
  SELECT EXISTS (SELECT FROM before) AS found, (SELECT to_json(made) FROM made) AS made`;

/** JSON has its times as text. */
function withDates(row: TokenRow): TokenRow {
  const date = (time: Date | null) => time && new Date(time);
  return { ...row, created_at: new Date(row.created_at), expires_at: date(row.expires_at), last_used_at: null };
}
