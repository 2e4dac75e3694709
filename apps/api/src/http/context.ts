import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import type { Scope } from "@atlasqueue/contract";
import type { Observe } from "@atlasqueue/core";
import type { Permit, RateLimit } from "@atlasqueue/core/internal/http";

/** The sender of a request: the tenant whose jobs it may touch, and what it may do there. */
export type Caller = {
  tenant: string;
  scopes: ReadonlySet<Scope>;
  /** From the token that was shown; there is none while `AUTH=disabled`. */
  token_id?: string;
  token_name?: string;
  /** Of the session that stood for it, if a cookie was shown instead. */
  session_hash?: string;
};

/**
 * Calls `ended` once the token or session that a call was let in with has ended, with the problem it is answered with.
 * Returns how to stop watching.
 */
export type Watch = (c: ApiContext, ended: (refusal: Error) => void) => () => void;

export type Authenticator = {
  /** The sender of a request. Throws or rejects with `ProblemError`, or as the database does. */
  callerOf(c: ApiContext): Caller | Promise<Caller>;
  /** Whether callers must show something. */
  readonly required: boolean;
  /** Whose token this is; undefined when it is no valid one. */
  holderOf(token: string): Promise<Caller | undefined>;
  /** Watches over the caller of a request that lasts. */
  watch: Watch;
  /** A session was closed: this process forgets it at once. */
  forgetSession(hash: string): void;
  close(): Promise<void>;
};

export type RateLimiter = {
  readonly rate: RateLimit;
  /** Ask for a number of the tenant's permits, all or none. Never rejects because of Redis. */
  take(tenant: string, cost: number): Promise<Permit>;
};

/** What decides about callers. Without a limiter, tenants have no rate limit. */
export type Access = { authenticator: Authenticator; limiter: RateLimiter | undefined; observe: Observe };

export type ApiEnv = {
  Bindings: Partial<HttpBindings> & {
    /** Of a request from within the app: aborts when the route that asks no longer waits for the answer. */
    given_up?: AbortSignal;
    /** Of such a request: where the request that asks came from. */
    client_address?: string;
    /** Inside another program: the one who sends it. */
    caller?: Caller;
  };
  Variables: {
    /** What the answer says: the caller's if it is well-formed, otherwise our own. */
    request_id: string;
    /** Of our own, whatever the caller sent: as the log and the audit trail know the request. */
    api_request_id: string;
    /** Where the request came from, as far as trusted proxies say. */
    client_address: string;
    /** Known once the request is let in, if its operation requires a token. */
    caller: Caller | undefined;
    /** What the answer says about the rate limit, if there is one. */
    limit_headers: Record<string, string> | undefined;
  };
};
export type ApiContext = Context<ApiEnv>;

/** What came with a request. hono's own default is undefined, whatever the type of `env` says. */
export const envOf = (c: ApiContext): ApiEnv["Bindings"] => (c.env as ApiContext["env"] | undefined) ?? {};

/** Node's request; there is none when `app.request()` is called without a server. */
export const incomingOf = (c: ApiContext): IncomingMessage | undefined => envOf(c).incoming;

/** How the log names a request and its sender. The caller's own id for it is apart: a caller may send any. */
export function senderOf(c: ApiContext) {
  const [request_id, told, caller] = [c.get("api_request_id"), c.get("request_id"), c.get("caller")];
  return {
    request_id,
    ...(told !== request_id && { caller_request_id: told }),
    ...(caller?.token_id !== undefined && { token_id: caller.token_id }),
    ...(caller && { tenant: caller.tenant }),
    client_address: c.get("client_address"),
  };
}
