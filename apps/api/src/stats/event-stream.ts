import type { LiveEventText } from "@atlasqueue/core/internal/http";

/** What may wait for a slow reader: beyond it, the reader is dropped, and comes back for the present. */
const unread_bytes_max = 256 * 1_024;
const heartbeat_ms = 15_000;

/**
 * Server-sent events: each with its name, a comment now and then to show that the connection lives. `over` is called
 * once, however it ends: the reader left, was too slow, or was told the end.
 *
 * @example
 * const stream = createEventStream(() => stop());
 * stream.send({ event: "end", data: '{"reason":"draining"}' });
 */
export function createEventStream(over: () => void, beat_ms = heartbeat_ms) {
  const encoder = new TextEncoder();
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The stream, unless it is over already. */
  const finish = (): typeof feed => {
    const last = feed;
    feed = undefined;
    clearInterval(heartbeat);
    if (last) over();
    return last;
  };
  const write = (text: string): void => {
    const bytes = encoder.encode(text);
    if (bytes.length <= (feed?.desiredSize ?? 0)) feed?.enqueue(bytes);
    else finish()?.error(new Error("the reader is too slow"));
  };
  const heartbeat = setInterval(() => write(": still here\n\n"), beat_ms).unref();
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        feed = controller;
        write("retry: 3000\n\n");
      },
      cancel: () => void finish(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: unread_bytes_max }),
  );
  return {
    body,
    send: ({ event, data }: LiveEventText) => write(`event: ${event}\ndata: ${data}\n\n`),
    end: (): void => finish()?.close(),
  };
}
