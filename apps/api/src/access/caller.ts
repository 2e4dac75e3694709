import type { Caller } from "../http/context.ts";
import { scopes, type Scope, type Actor } from "@atlasqueue/contract";
import { defaultTenant } from "@atlasqueue/core/internal";

/** Everyone, while nothing checks who calls (`AUTH=disabled`). */
export const anybody: Caller = { tenant: defaultTenant, scopes: new Set(scopes) };

/** The scope that is needed, or several of which one is enough. */
export type Needed = Scope | readonly Scope[];

/** `admin` allows everything within its tenant. */
export function allows(caller: Caller, needed: Needed): boolean {
  return caller.scopes.has("admin") || [needed].flat().some((scope) => caller.scopes.has(scope));
}

/** A caller, as it is recorded with what they did. */
export function actorOf({ token_id, token_name, session_hash }: Caller): Actor {
  if (token_id === undefined) return { kind: "anybody", token_id: null, name: token_name ?? null };
  return { kind: session_hash === undefined ? "token" : "session", token_id, name: token_name ?? null };
}
