import type { IncomingMessage } from "node:http";

const unhurried = new WeakSet<IncomingMessage>();

/** The body of this request may take longer than others may: whoever reads it sees to it that it ends. */
export function allowTime(incoming: IncomingMessage): void {
  unhurried.add(incoming);
  // Until the next request of its connection, as nothing may move while it waits for permits.
  incoming.socket.setTimeout(0);
}

/** Whether the server's deadline for whole requests is not this one's. */
export function hasTime(incoming: IncomingMessage | undefined): boolean {
  return incoming !== undefined && unhurried.has(incoming);
}
