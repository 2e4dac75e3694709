import type { Session } from "@atlasqueue/contract";
import type { CallOptions, Send } from "../http/transport.ts";

/**
 * A cookie in place of a token, for pages served by the API: its browser keeps it, and no script can read it. Such a
 * page's client has no token, but `headers: { "x-atlasqueue-dashboard": "1" }`.
 */
export type SessionCalls = {
  /** Who this client is to the API, and what it may do. Without token or cookie `signed_in` is false. */
  get(call?: CallOptions): Promise<Session>;
  /** Sign in. Rejects with AuthError when the token is not valid, and with RateLimitError after too many tries. */
  open(token: string, call?: CallOptions): Promise<Session>;
  /** Sign out. Safe to repeat. */
  close(call?: CallOptions): Promise<Session>;
};

export function sessionCalls(send: Send): SessionCalls {
  const path = "/v1/session";
  return {
    async get(call) {
      return (await send({ method: "GET", path, repeat: "always" }, call)).body as Session;
    },
    async open(token, call) {
      const body = JSON.stringify({ token });
      return (await send({ method: "POST", path, body, repeat: "undone" }, call)).body as Session;
    },
    async close(call) {
      return (await send({ method: "DELETE", path, repeat: "always" }, call)).body as Session;
    },
  };
}
