import { scopes, type Scope } from "@atlasqueue/contract";
import { defaultTenant } from "@atlasqueue/core";

/** Who sent a request: whose jobs it may touch, and what it may do there. */
export type Caller = {
  tenant: string;
  scopes: ReadonlySet<Scope>;
  /** Of the token that was shown; nobody shows one while `AUTH=disabled`. */
  token_id?: string;
};

/** Everybody, while nothing checks who calls (`AUTH=disabled`). */
export const anybody: Caller = { tenant: defaultTenant, scopes: new Set(scopes) };

/** `admin` allows everything within its tenant. */
export function allows(caller: Caller, scope: Scope): boolean {
  return caller.scopes.has(scope) || caller.scopes.has("admin");
}
