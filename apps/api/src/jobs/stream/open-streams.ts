import { createShares } from "@atlasqueue/contract";
import { takeOrThrow } from "@atlasqueue/core/internal/http";

/** How long a stream waits for its client, and how often it looks after itself. */
export type StreamTimes = {
  /** For a line to come. */
  idle_ms: number;
  /** For answers to be read. */
  unread_ms: number;
  /** Between two looks: whether answers are read, and whether the token has ended. */
  look_ms: number;
};

export type JobStreams = {
  times: StreamTimes;
  /**
   * A stream begins; call the result when it is over. `drain` is called when it should end, even if that is now, but
   * never before this returns.
   * Throws `NoRoomError` when there are too many.
   */
  open(tenant: string, drain: () => void): () => void;
  /** Tells all streams to end, and any that still comes. */
  close(): void;
};

/** Of one process, with the usual shares of its tenants: each may hold a megabyte. */
const usual_streams_max = 100;

const usualTimes: StreamTimes = { idle_ms: 60_000, unread_ms: 30_000, look_ms: 5_000 };

/**
 * The streams of jobs that are open in a process.
 *
 * @example
 * const over = streams.open(tenant, () => end("draining"));
 */
export function createJobStreams(times: Partial<StreamTimes> = {}, streams_max = usual_streams_max): JobStreams {
  const room = createShares(streams_max);
  const drains = new Set<() => void>();
  let closed = false;
  return {
    times: { ...usualTimes, ...times },
    open(tenant, drain) {
      takeOrThrow(room, tenant, 1, "streams of jobs");
      drains.add(drain);
      if (closed) queueMicrotask(drain);
      return () => {
        if (drains.delete(drain)) room.give(tenant, 1);
      };
    },
    close() {
      closed = true;
      for (const drain of drains) drain();
    },
  };
}
