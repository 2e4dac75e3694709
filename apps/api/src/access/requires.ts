import type { Scope } from "@atlasqueue/contract";
import type { Context, Next } from "hono";
import type { Access, ApiContext, ApiEnv, Caller } from "../http/context.ts";
import { ProblemError } from "../http/answers/problem.ts";
import { allows } from "./caller.ts";
import { charge } from "./charge.ts";

/** For `app.use`: what `requires` asks. Decides nothing by itself, so that a route says what it needs. */
export function withAccess(access: Access) {
  return (c: ApiContext, next: Next): Promise<void> => {
    c.set("access", access);
    return next();
  };
}

/**
 * Stands before a route's handler: the caller's token must have this scope, and its tenant a permit left. A route
 * without it can neither know its tenant (`tenantOf` throws) nor pass the tests.
 *
 * @example
 * routes.post("/jobs", requires("submit"), async (c) => answerJson(c, 200, { tenant: tenantOf(c) }));
 */
export function requires(scope: Scope) {
  // Generic, so that the handler behind it knows the parameters of its path.
  return <Path extends string>(c: Context<ApiEnv, Path>, next: Next): Promise<void> => {
    const { authenticator, limiter } = c.get("access");
    const caller = authenticator.callerOf(c);
    // Most requests know at once, and need not wait for a turn of the queue of promises.
    if (caller instanceof Promise || limiter) return admitLater(c, next, scope, caller);
    admit(c, scope, caller);
    return next();
  };
}

async function admitLater(c: ApiContext, next: Next, scope: Scope, asked: Caller | Promise<Caller>): Promise<void> {
  const caller = await asked;
  const { limiter, observe } = c.get("access");
  if (limiter) await charge(c, limiter, observe, caller.tenant, 1);
  admit(c, scope, caller);
  await next();
}

function admit(c: ApiContext, scope: Scope, caller: Caller): void {
  if (!allows(caller, scope))
    throw new ProblemError("forbidden", `This needs a token with the scope ${JSON.stringify(scope)}`);
  c.set("caller", caller);
}
