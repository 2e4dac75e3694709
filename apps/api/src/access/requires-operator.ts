import { defaultTenant } from "@atlasqueue/core/internal";
import type { Next } from "hono";
import type { ApiContext } from "../http/context.ts";
import { ProblemError } from "../http/answers/problem.ts";
import { allows } from "./caller.ts";

/**
 * Stands before a route that tells of all tenants: the caller's token must be the operator's, of the default tenant and
 * with `admin`. It takes no permit: what watches the system must go on when its tenant has none left.
 */
export async function requiresOperator(c: ApiContext, next: Next): Promise<void> {
  const caller = await c.get("access").authenticator.callerOf(c);
  if (caller.tenant !== defaultTenant || !allows(caller, "admin"))
    throw new ProblemError(
      "forbidden",
      'This tells of all tenants: it needs a token of the default tenant with "admin"',
    );
  c.set("caller", caller);
  await next();
}
