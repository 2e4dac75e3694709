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
  const pieces = piecesOf(c);
  return {
    next: async () => (await pieces.next()).value ?? undefined,
    leave() {
      void pieces.return();
      incomingOf(c)?.removeAllListeners("readable");
    },
  };
}

async function* piecesOf(c: ApiContext): AsyncGenerator<Uint8Array, void> {
  const incoming = incomingOf(c);
  if (!incoming) return yield* c.req.raw.body ?? [];
  // Not before it is wanted: one that is refused is like any other.
  unhurried.add(incoming);
  // Without a listener it would bring the process down.
  incoming.on("error", () => {});
  try {
    yield* incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch {
    throw new ProblemError("request_timeout", "The body did not arrive completely");
  }
}
