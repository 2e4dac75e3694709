import type { CreatedToken, CreateTokenInput, Token, TokenList } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

/** All but `revoke` of one's own token need the scope `admin`. */
export type TokenCalls = {
  /** Every valid token, without the token itself. */
  list(call?: CallOptions): Promise<Token[]>;
  /** Make a token; the answer is the only one that holds it. It cannot outlive the one that asks. */
  create(token: CreateTokenInput, call?: CallOptions): Promise<CreatedToken>;
  /** A successor with the same name and scopes; the old one works as well for `overlapSeconds`, by default a day. */
  rotate(id: string, options?: { overlapSeconds?: number }, call?: CallOptions): Promise<CreatedToken>;
  /** End a token. Rejects with NotFoundError when it is not valid any more. */
  revoke(id: string, call?: CallOptions): Promise<void>;
};

export function tokenCalls(ask: Ask): TokenCalls {
  const at = ["tokens"];
  return {
    list: async (call) => (await ask<TokenList>("GET", at, call)).items,
    // Not after a lost answer: the token in it would be lost, and another one made.
    create: (body, call) => ask<CreatedToken>("POST", at, call, { body, repeat: "undone" }),
    rotate: (id, { overlapSeconds } = {}, call) =>
      ask<CreatedToken>("POST", [...at, id, "rotate"], call, {
        body: { overlap_seconds: overlapSeconds },
        repeat: "undone",
      }),
    async revoke(id, call) {
      await ask("DELETE", [...at, id], call, { repeat: "undone" });
    },
  };
}
