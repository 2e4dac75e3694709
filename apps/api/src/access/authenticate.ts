import type { Deps } from "@atlasqueue/core/internal";
import { findTokens, hashToken, isTokenText } from "@atlasqueue/core/internal/http";
import type { ApiContext, Authenticator, Caller } from "../http/context.ts";
import { ProblemError, unauthorized } from "../http/answers/problem.ts";
import { sentTwice } from "../http/input/headers.ts";
import { anybody } from "./caller.ts";
import { meansToken, requireOwnHeader, sessionHashOf } from "./cookie.ts";
import { createTokenCache, type Known } from "./token-cache.ts";
import { createTokenUses } from "./token-use.ts";
import { createWatch } from "./watch.ts";

/** `AUTH=disabled`: no one has to identify themselves, and an Authorization header is ignored. */
export const noAuthentication: Authenticator = {
  required: false,
  callerOf: () => anybody,
  holderOf: async () => anybody,
  watch: () => () => {},
  forgetSession: () => {},
  close: async () => {},
};

/** `AUTH=required`. `now` is a clock in ms that a test may move. */
export type AuthenticatorDeps = Deps & { now?: () => number };

/**
 * `AUTH=required`: every caller shows a token, or the cookie of a session that stands for one. One used in the last few
 * seconds costs a hash and a map lookup, and goes on working while the database is away.
 *
 * @example
 * const authenticator = requireTokens({ database, observe });
 */
export function requireTokens(deps: AuthenticatorDeps): Authenticator {
  const cache = createTokenCache((hashes) => findTokens(deps, hashes), deps.now);
  const uses = createTokenUses(deps);

  const refuse = (reason: Refusal): never => {
    deps.observe({ event: "token_refused", reason });
    const problem = unauthorized(refusals[reason], reason === "malformed" || reason === "unknown");
    throw reason === "other" ? new OtherCallerError(problem.kind, problem.message, problem.extras) : problem;
  };
  const admit = (known: Known | undefined): Caller => {
    if (!known) return refuse("unknown");
    uses.note(known.tenant, known.token_id);
    return known;
  };
  const bySession = async (c: ApiContext, hash: string): Promise<Caller> => {
    requireOwnHeader(c);
    const known = await cache.ask(hash);
    if (!known) return refuse("ended");
    if (!meansToken(c, known.token_id)) return refuse("other");
    return { ...admit(known), session_hash: hash };
  };

  const callerOf = (c: ApiContext): Caller | Promise<Caller> => {
    const bearer = readBearer(c);
    const session = bearer.kind === "missing" ? sessionHashOf(c) : undefined;
    if (session !== undefined) return bySession(c, session);
    if (bearer.kind !== "token") return refuse(bearer.kind);
    const known = cache.ask(hashToken(bearer.token));
    return known instanceof Promise ? known.then(admit) : admit(known);
  };

  return {
    required: true,
    callerOf,
    watch: createWatch(callerOf),
    holderOf: async (token) => (isTokenText(token) ? cache.ask(hashToken(token)) : undefined),
    forgetSession: (hash) => cache.forget(hash),
    close: () => uses.close(),
  };
}

type Refusal = "missing" | "malformed" | "unknown" | "ended" | "other";

/** The cookie is of another session than the page that sends it takes itself for. */
export class OtherCallerError extends ProblemError {}

const refusals: Record<Refusal, string> = {
  missing: "Send a token: Authorization: Bearer aq_…",
  malformed:
    "The Authorization header must be sent once, as Bearer and a whole token: aq_ and 49 characters, the last of them a checksum",
  unknown: "The token is unknown, expired or revoked",
  ended: "The session has ended, or its token has; sign in again",
  other: "Nothing was done: the browser is signed in with another token by now than X-AtlasQueue-Token-Id names",
};

type Bearer = { kind: "token"; token: string } | { kind: "missing" } | { kind: "malformed" };

/**
 * What the Authorization header says. Two of them count for nothing: a proxy and we might each believe a different one.
 */
function readBearer(c: ApiContext): Bearer {
  const header = c.req.header("authorization");
  if (header === undefined) return { kind: "missing" };
  const token = /^bearer +(\S+)$/i.exec(header)?.[1];
  if (token === undefined || !isTokenText(token) || sentTwice(c, "authorization")) return { kind: "malformed" };
  return { kind: "token", token };
}
