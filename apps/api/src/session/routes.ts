import { openSession as openSessionBody, scopes, session, type Session } from "@atlasqueue/contract";
import { closeSession, forTenant, openSession, whoIs, type WhoIs } from "@atlasqueue/core/internal/http";
import { allows, anybody } from "../access/caller.ts";
import { OtherCallerError } from "../access/authenticate.ts";
import { charge, countFailure } from "../access/charge.ts";
import { requireOwnHeader, sessionCookie, sessionHashOf } from "../access/cookie.ts";
import type { Told } from "../audit/told.ts";
import { ProblemError, unauthorized } from "../http/answers/problem.ts";
import type { ApiContext, Caller } from "../http/context.ts";
import type { RouteDeps } from "../route/deps.ts";
import { exampleId } from "../route/examples.ts";
import { ok } from "../route/answers.ts";
import { route, type Guard } from "../route/route.ts";
import { version } from "../docs/version.ts";

/**
 * Failed ones, per network. A right one is never refused, as everybody behind a proxy is one network; how many are
 * looked up at all is bounded where tokens are (see `createTokenCache`).
 */
const failed = {
  what: "attempts to sign in",
  throttled: "sign_in_throttled",
  rate: { limit: 60, period_ms: 60_000 },
} as const;

/** Far more than a token takes: anybody may send one. */
const session_bytes_max = 4_096;

const example: Session = {
  auth: "required",
  version: "1.0.0",
  signed_in: true,
  tenant: "default",
  scopes: ["read"],
  token: { id: exampleId, name: "ops", hint: "aq_3fJ2" },
  until: "2030-01-31T12:00:00.000Z",
};
const cookie = { "Set-Cookie": "The session: HttpOnly, SameSite=Strict, and Secure over https." };

/**
 * Lets everyone in, with what they showed. A session that has ended is as good as none; a bad token is an error, and so is
 * somebody else's session.
 */
const letVisitorIn: Guard = async (c, { access: { authenticator } }) => {
  const shows = c.req.header("authorization") !== undefined || sessionHashOf(c) !== undefined;
  if (authenticator.required && !shows) return;
  try {
    c.set("caller", await authenticator.callerOf(c));
  } catch (error) {
    const ended = error instanceof ProblemError && error.kind === "unauthorized";
    if (!ended || error instanceof OtherCallerError || c.req.header("authorization") !== undefined) throw error;
  }
};

/** By the session that was opened. */
function tellSignedIn(
  _input: unknown,
  { body: { token, tenant, scopes: allowed } }: { body: Session },
): Told | undefined {
  if (!token || tenant === null) return undefined;
  const caller = { tenant, scopes: new Set(allowed), token_id: token.id, token_name: token.name, session_hash: "" };
  return { target: token.id, caller };
}

const get = route(
  {
    at: "GET /v1/session",
    id: "getSession",
    tag: "Session",
    summary: "Get the caller",
    description:
      "By token or by cookie. Without either, or when the session has ended, `signed_in` is false. With `AUTH=disabled` " +
      "everyone is signed in.",
    answers: ok("The caller, and what they may do.", session, example),
    problems: ["unauthorized", "rate_limited", "unavailable", "no_room", "share_used"],
  },
  ({ deps, caller }: Visited) => describe(deps, caller),
  letVisitorIn,
);

const open = route(
  {
    at: "POST /v1/session",
    id: "openSession",
    audit: { action: "session.open", tells: tellSignedIn },
    tag: "Session",
    summary: "Sign in: exchange a token for a cookie",
    description:
      "The session ends with the token, whether that expires, is revoked or is rotated, and after 12 hours. Calls by " +
      "cookie that change something need the header `X-AtlasQueue-Dashboard: 1` as well. With `AUTH=disabled` there is " +
      "nothing to sign in to, and no cookie.",
    request: {
      body: {
        schema: openSessionBody,
        bytes_max: session_bytes_max,
        example: { token: "aq_3fJ2mPq0eXw8sYb5nVt7kRc1uHd9gLz4aQo6iEf2jWxCHECK1" },
      },
    },
    answers: { 200: { description: "The session that was started.", schema: session, example, some_headers: cookie } },
    problems: ["unauthorized", "rate_limited", "unavailable"],
  },
  async ({ deps, body, context: c }) => {
    const { authenticator, limiter, observe } = deps.access;
    if (!authenticator.required) return { status: 200, body: await describe(deps, undefined) };
    const shown = await authenticator.holderOf(body.token);
    // A token for monitoring is for machines: no page may show it anything.
    const holder = shown && allows(shown, ["submit", "read", "work"]) ? shown : undefined;
    const { tenant = "", token_id } = holder ?? {};
    // From now on the request is this caller's: it takes a permit of their tenant's, and its turns.
    if (holder && limiter) await charge(c, limiter, observe, tenant, 1);
    c.set("caller", holder);
    const own = { database: forTenant(deps.database, { tenant }) };
    // It replaces the one this browser had.
    const had = sessionHashOf(c);
    const opened =
      token_id === undefined ? undefined : await openSession({ ...deps, ...own }, { tenant, token_id }, had);
    if (!holder || token_id === undefined || !opened) {
      countFailure(c, deps, failed);
      // One answer for all reasons: it must not help guess a token.
      throw unauthorized("This is not a token that can sign in here");
    }
    if (had !== undefined) authenticator.forgetSession(had);
    const { session: text, expires_in_ms: ends_in_ms } = opened;
    const said = signedIn(holder, token_id, opened);
    return { status: 200, body: said, headers: { "set-cookie": sessionCookie(c, { text, ends_in_ms }) } };
  },
);

/** The cookie is enough to end itself, but only for our own page. */
const requiresOwnPage: Guard = async (c, deps) => {
  if (sessionHashOf(c) === undefined) return;
  requireOwnHeader(c);
  await letVisitorIn(c, deps);
};

/** The one who was signed in; none once the session has ended. */
const tellSignedOut = ({ caller }: { caller?: Caller }): Told | undefined =>
  caller?.session_hash === undefined ? undefined : { target: caller.token_id ?? null };

const close = route(
  {
    at: "DELETE /v1/session",
    id: "closeSession",
    audit: { action: "session.close", tells: tellSignedOut },
    tag: "Session",
    summary: "Sign out",
    description: "The session is over, on the server too; its token stays. Without a session nothing happens.",
    answers: {
      200: { description: "Signed out.", schema: session, example: signedOutExample(), some_headers: cookie },
    },
    problems: ["forbidden", "unavailable", "no_room", "share_used"],
  },
  async ({ deps, context: c, caller }: Visited & { context: ApiContext }) => {
    // Only one that was found: anybody can make one up.
    const hash = caller?.session_hash;
    if (hash !== undefined) await closeSession(deps, hash);
    if (hash !== undefined) deps.access.authenticator.forgetSession(hash);
    return {
      status: 200,
      body: await describe(deps, undefined),
      headers: { "set-cookie": sessionCookie(c, undefined) },
    };
  },
  requiresOwnPage,
);

/** A cookie in place of a token, for the dashboard. */
export const sessionRoutes = [open, get, close];

type Visited = { deps: RouteDeps; caller?: Caller };

async function describe(deps: RouteDeps, caller: Caller | undefined): Promise<Session> {
  const { required } = deps.access.authenticator;
  if (!required) {
    const { tenant, scopes: allowed } = caller ?? anybody;
    const may = scopes.filter((scope) => allowed.has(scope));
    const auth = caller && caller !== anybody ? "application" : "disabled";
    return { ...example, auth, version, tenant, scopes: may, token: null, until: null };
  }
  const { token_id } = caller ?? {};
  const who =
    caller && token_id !== undefined
      ? await whoIs(deps, { tenant: caller.tenant, token_id }, caller.session_hash)
      : undefined;
  if (!caller || token_id === undefined || !who) return { ...signedOutExample(), version };
  return signedIn(caller, token_id, who);
}

function signedIn({ tenant, scopes: allowed }: Caller, id: string, { name, hint, until }: WhoIs): Session {
  return {
    auth: "required",
    version,
    signed_in: true,
    tenant,
    scopes: scopes.filter((scope) => allowed.has(scope)),
    token: { id, name, hint },
    until: until?.toISOString() ?? null,
  };
}

function signedOutExample(): Session {
  return { ...example, signed_in: false, tenant: null, scopes: [], token: null, until: null };
}
