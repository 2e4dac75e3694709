import type { CreatedToken, CreateTokenInput, Token, TokenList } from "@atlasqueue/contract";
import { segment, type CallOptions, type Send } from "../http/transport.ts";

/** All but `revoke` of one's own token need the scope `admin`. */
export type TokenCalls = {
  /** Every valid token, without the token itself. */
  list(call?: CallOptions): Promise<Token[]>;
  /** Make a token; the answer is the only one that holds it. It cannot outlive the one that asks. */
  create(token: CreateTokenInput, call?: CallOptions): Promise<CreatedToken>;
  /** A successor with the same name and scopes; the old one works beside it for `overlapSeconds`, by default a day. */
  rotate(id: string, options?: { overlapSeconds?: number }, call?: CallOptions): Promise<CreatedToken>;
  /** End a token. Rejects with NotFoundError when it is not valid any more. */
  revoke(id: string, call?: CallOptions): Promise<void>;
};

export function tokenCalls(send: Send): TokenCalls {
  const path = "/v1/tokens";
  return {
    async list(call) {
      return ((await send({ method: "GET", path, repeat: "always" }, call)).body as TokenList).items;
    },
    // Not after a lost answer: the token in it would be lost, and another one made.
    async create(token, call) {
      const body = JSON.stringify(token);
      return (await send({ method: "POST", path, body, repeat: "undone" }, call)).body as CreatedToken;
    },
    async rotate(id, { overlapSeconds } = {}, call) {
      const body = JSON.stringify({ overlap_seconds: overlapSeconds });
      const answer = await send(
        { method: "POST", path: `${path}/${segment(id)}/rotate`, body, repeat: "undone" },
        call,
      );
      return answer.body as CreatedToken;
    },
    async revoke(id, call) {
      await send({ method: "DELETE", path: `${path}/${segment(id)}`, repeat: "undone" }, call);
    },
  };
}
