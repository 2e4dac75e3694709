import type { Caller } from "../http/context.ts";
import { scopes, type Scope } from "@atlasqueue/contract";
import { defaultTenant } from "@atlasqueue/core/internal";

/** Everyone, while nothing checks who calls (`AUTH=disabled`). */
export const anybody: Caller = { tenant: defaultTenant, scopes: new Set(scopes) };

/** The scope that is needed, or several of which one is enough. */
export type Needed = Scope | readonly Scope[];

/** `admin` allows everything within its tenant. */
export function allows(caller: Caller, needed: Needed): boolean {
  return caller.scopes.has("admin") || [needed].flat().some((scope) => caller.scopes.has(scope));
}
