import type { LiveEventText } from "@atlasqueue/core/internal/http";

/** What may wait for a slow reader: beyond it, the reader is dropped, and comes back for the present. */
const unread_bytes_max = 256 * 1_024;
const heartbeat_ms = 15_000;

export type EventStream = { body: ReadableStream<Uint8Array>; send(event: LiveEventText): void; end(): void };

/**
 * Server-sent events: each with its name, a comment now and then to show that the connection lives. `over` is called
 * once, however it ends: the reader left, was too slow, or was told the end.
 *
 * @example
 * const stream = createEventStream(() => stop());
 * stream.send({ event: "end", data: '{"reason":"draining"}' });
 */
export function createEventStream(over: () => void, beat_ms = heartbeat_ms): EventStream {
  const encoder = new TextEncoder();
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
  const finish = (close?: () => void): void => {
    if (!feed) return;
    feed = undefined;
    clearInterval(heartbeat);
    close?.();
    over();
  };
  const roomLeft = () => feed?.desiredSize ?? 0;
  const drop = (): void => {
    const slow = feed;
    finish(() => slow?.error(new Error("the reader is too slow")));
  };
  const write = (text: string): void => {
    if (!feed) return;
    const bytes = encoder.encode(text);
    if (bytes.length > roomLeft()) drop();
    else feed.enqueue(bytes);
  };
  const heartbeat = setInterval(() => write(": still here\n\n"), beat_ms).unref();
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        feed = controller;
        write("retry: 3000\n\n");
      },
      cancel: () => finish(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: unread_bytes_max }),
  );
  return {
    body,
    send: ({ event, data }) => write(`event: ${event}\ndata: ${data}\n\n`),
    end() {
      const last = feed;
      finish(() => last?.close());
    },
  };
}
