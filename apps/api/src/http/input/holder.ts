import { incomingOf, type ApiContext } from "../context.ts";

/** Whose share a request takes: its tenant's, and before anybody knows that, its address's. */
export function holderOf(c: ApiContext): string {
  const caller = c.get("caller");
  return caller ? caller.tenant : `address ${incomingOf(c)?.socket.remoteAddress ?? "unknown"}`;
}
