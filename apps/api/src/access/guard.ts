import { defaultTenant } from "@atlasqueue/core/internal";
import { ProblemError } from "../http/answers/problem.ts";
import type { Access, ApiContext, Caller } from "../http/context.ts";
import { allows, type Needed } from "./caller.ts";
import { charge } from "./charge.ts";

type Guard = (c: ApiContext, deps: { access: Access }) => void | Promise<void>;

/** What an operation requires of its callers: nothing, a token with its scope, or the operator's token. */
export function guardOf({ scope, all_tenants }: { scope?: Needed; all_tenants?: true }): Guard {
  if (scope === undefined) return () => {};
  return async (c, { access: { authenticator, limiter, observe } }) => {
    const caller = await authenticator.callerOf(c);
    // Before it may be refused: the log has the caller all the same.
    c.set("caller", caller);
    // It takes no permit: monitoring must go on when its tenant has none left.
    if (all_tenants) return requireOperator(caller, scope);
    if (limiter) await charge(c, limiter, observe, caller.tenant, 1);
    requireScope(caller, scope);
  };
}

/** Throws `forbidden` when the caller's token does not have it. */
export function requireScope(caller: Caller, scope: Needed): void {
  if (!allows(caller, scope)) throw new ProblemError("forbidden", `This needs a token with the scope ${shown(scope)}`);
}

const shown = (scope: Needed) =>
  [scope]
    .flat()
    .map((one) => JSON.stringify(one))
    .join(" or ");

/** For operations that show all tenants. */
function requireOperator(caller: Caller, scope: Needed): void {
  if (caller.tenant === defaultTenant && allows(caller, scope)) return;
  throw new ProblemError(
    "forbidden",
    `This endpoint returns data of all tenants. Use a token of the default tenant with the scope ${shown(scope)}.`,
  );
}
