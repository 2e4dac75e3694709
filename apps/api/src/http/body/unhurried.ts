import type { IncomingMessage } from "node:http";

const unhurried = new WeakSet<IncomingMessage>();
/** What the connection's idle timeout was before. */
const idle_ms = new WeakMap<IncomingMessage, number>();

/** The body of this request may take longer than others may: whoever reads it sees to it that it ends. */
export function allowTime(incoming: IncomingMessage): void {
  unhurried.add(incoming);
  const { socket } = incoming;
  idle_ms.set(incoming, socket.timeout ?? 0);
  // Nothing may move while it waits for permits.
  socket.setTimeout(0);
}

/** It is read no more: its connection may idle as long as any other, such as one whose answers nobody reads. */
export function endTime(incoming: IncomingMessage): void {
  const ms = idle_ms.get(incoming);
  if (ms !== undefined) incoming.socket.setTimeout(ms);
  idle_ms.delete(incoming);
}

/** Whether the server's deadline for whole requests is not this one's. */
export function hasTime(incoming: IncomingMessage | undefined): boolean {
  return incoming !== undefined && unhurried.has(incoming);
}
