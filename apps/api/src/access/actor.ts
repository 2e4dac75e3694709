import type { Actor } from "@atlasqueue/contract";
import type { Caller } from "../http/context.ts";

/** A caller, as it is recorded with what they did. */
export function actorOf({ token_id, token_name, session_hash }: Caller): Actor {
  if (token_id === undefined) return { kind: "anybody", token_id: null, name: token_name ?? null };
  return { kind: session_hash === undefined ? "token" : "session", token_id, name: token_name ?? null };
}
