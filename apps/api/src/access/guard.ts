import { defaultTenant } from "@atlasqueue/core/internal";
import { ProblemError } from "../http/answers/problem.ts";
import type { Access, ApiContext, Caller } from "../http/context.ts";
import { allows, type Needed } from "./caller.ts";
import { charge } from "./charge.ts";

type Guard = (c: ApiContext, deps: { access: Access }) => void | Promise<void>;

/** What an operation requires of its callers: nothing, a token with its scope, or the operator's token. */
export function guardOf({ scope, all_tenants }: { scope?: Needed; all_tenants?: true }): Guard {
  if (scope === undefined) return () => {};
  if (all_tenants) return letOperatorIn(scope);
  return (c, { access }) => {
    const caller = access.authenticator.callerOf(c);
    // Most requests know at once, and need not wait for a turn of the promise queue.
    if (caller instanceof Promise || access.limiter) return letInLater(c, access, scope, caller);
    c.set("caller", caller);
    requireScope(caller, scope);
  };
}

async function letInLater(
  c: ApiContext,
  { limiter, observe }: Access,
  scope: Needed,
  asked: Caller | Promise<Caller>,
): Promise<void> {
  const caller = await asked;
  // Before it may be refused: the log has the caller all the same.
  c.set("caller", caller);
  if (limiter) await charge(c, limiter, observe, caller.tenant, 1);
  requireScope(caller, scope);
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

/**
 * For operations that show all tenants. It takes no permit: monitoring must go on when its tenant has none left.
 */
function letOperatorIn(scope: Needed): Guard {
  return async (c, { access }) => {
    const caller = await access.authenticator.callerOf(c);
    c.set("caller", caller);
    if (caller.tenant !== defaultTenant || !allows(caller, scope))
      throw new ProblemError(
        "forbidden",
        `This shows all tenants: it needs a token of the default tenant with the scope ${shown(scope)}`,
      );
  };
}
