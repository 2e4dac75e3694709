import type { Caller } from "../http/context.ts";
import { scopes, type Scope } from "@atlasqueue/contract";
import { defaultTenant } from "@atlasqueue/core/internal";

/** Everyone, while nothing checks who calls (`AUTH=disabled`). */
export const anybody: Caller = { tenant: defaultTenant, scopes: new Set(scopes) };

/** `admin` allows everything within its tenant. */
export function allows(caller: Caller, scope: Scope | "any"): boolean {
  if (scope === "any") return caller.scopes.size > 0;
  return caller.scopes.has(scope) || caller.scopes.has("admin");
}
