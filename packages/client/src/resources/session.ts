import type { Session } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

const at = ["session"];

/**
 * A cookie in place of a token, for pages served by the API: its browser keeps it, and no script can read it. Such a
 * page's client has no token, but `headers: { "x-atlasqueue-dashboard": "1" }`.
 */
export type SessionCalls = ReturnType<typeof sessionCalls>;

export const sessionCalls = (ask: Ask) => ({
  /** Who this client is to the API, and what it may do. Without token or cookie `signed_in` is false. */
  get: (call?: CallOptions): Promise<Session> => ask("GET", at, call),
  /** Sign in. Rejects with AuthError when the token is not valid, and with RateLimitError after too many tries. */
  open: (token: string, call?: CallOptions): Promise<Session> =>
    ask("POST", at, call, { body: { token }, repeat: "undone" }),
  /** Sign out. Safe to repeat. */
  close: (call?: CallOptions): Promise<Session> => ask("DELETE", at, call),
});
