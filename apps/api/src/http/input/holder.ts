import type { ApiContext } from "../context.ts";
import { networkOf } from "./address.ts";

/** Whose share a request takes: its tenant's, and until that is known, its network's. */
export function holderOf(c: ApiContext): string {
  const caller = c.get("caller");
  return caller ? caller.tenant : `network ${networkOf(c)}`;
}
