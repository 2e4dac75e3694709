import type { Deps } from "../deps.ts";
import { makeToken } from "./create.ts";
import type { MadeToken } from "./rows.ts";

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
