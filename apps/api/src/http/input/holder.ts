import { incomingOf, type ApiContext } from "../context.ts";

/** Whose share a request takes: its tenant's, and until that is known, its address's. */
export function holderOf(c: ApiContext): string {
  const caller = c.get("caller");
  return caller ? caller.tenant : `address ${incomingOf(c)?.socket.remoteAddress ?? "unknown"}`;
}
