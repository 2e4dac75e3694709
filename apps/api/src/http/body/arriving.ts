import type { IncomingMessage } from "node:http";
import { incomingOf, type ApiContext } from "../context.ts";
import { ProblemError } from "../answers/problem.ts";

/** A body that is read while it arrives, and no faster than it is asked for. */
export type Arriving = {
  /** The next bytes; undefined at the end. Rejects with `ProblemError` when the client breaks off. One call at a time. */
  next(): Promise<Uint8Array | undefined>;
  /** No more is read. What still comes after the answer is discarded for a moment; then the connection ends. */
  leave(): void;
};

const events = ["readable", "end", "error", "close"] as const;

const unhurried = new WeakSet<IncomingMessage>();

/** Whether the body is read while it arrives: the server's deadline for whole requests is not its. */
export const hasTime = (incoming: IncomingMessage | undefined): boolean =>
  incoming !== undefined && unhurried.has(incoming);

/**
 * The body of a request that may go on for as long as its reader likes.
 *
 * @example
 * for (let bytes = await body.next(); bytes; bytes = await body.next()) use(bytes);
 */
export function arrivingBody(c: ApiContext): Arriving {
  const incoming = incomingOf(c);
  if (!incoming) return withoutServer(c);
  let wake: (() => void) | undefined;
  const look = () => wake?.();
  let begun = false;
  // Not before it is wanted: one that is refused is like any other.
  const begin = () => {
    begun = true;
    unhurried.add(incoming);
    for (const event of events) incoming.on(event, look);
  };
  return {
    async next() {
      if (!begun) begin();
      for (;;) {
        const bytes = incoming.read() as Buffer | null;
        if (bytes) return bytes;
        if (incoming.readableEnded) return undefined;
        if (incoming.destroyed) throw new ProblemError("request_timeout", "The body did not arrive completely");
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    leave() {
      for (const event of events) incoming.off(event, look);
      // Without a listener it would bring the process down.
      incoming.on("error", () => {});
      wake?.();
    },
  };
}

function withoutServer(c: ApiContext): Arriving {
  const reader = c.req.raw.body?.getReader();
  return { next: async () => (await reader?.read())?.value, leave: () => void reader?.cancel().catch(() => {}) };
}
