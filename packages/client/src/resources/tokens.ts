import type { CreatedToken, CreateTokenInput, Token, TokenList } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

const at = ["tokens"];

/** All but `revoke` of one's own token need the scope `admin`. */
export type TokenCalls = ReturnType<typeof tokenCalls>;

export const tokenCalls = (ask: Ask) => ({
  /** Every valid token, without the token itself. */
  list: async (call?: CallOptions): Promise<Token[]> => (await ask<TokenList>("GET", at, call)).items,
  /** Make a token; the answer is the only one that holds it. It cannot outlive the one that asks. */
  // Not after a lost answer: the token in it would be lost, and another one made.
  create: (body: CreateTokenInput, call?: CallOptions): Promise<CreatedToken> =>
    ask("POST", at, call, { body, repeat: "undone" }),
  /** A successor with the same name and scopes; the old one works as well for `overlapSeconds`, by default a day. */
  rotate(id: string, options: { overlapSeconds?: number } = {}, call?: CallOptions): Promise<CreatedToken> {
    const body = { overlap_seconds: options.overlapSeconds };
    return ask("POST", [...at, id, "rotate"], call, { body, repeat: "undone" });
  },
  /** End a token. Rejects with NotFoundError when it is not valid any more. */
  revoke: async (id: string, call?: CallOptions): Promise<void> =>
    void (await ask("DELETE", [...at, id], call, { repeat: "undone" })),
});
