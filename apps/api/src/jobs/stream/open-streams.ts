import { createShares } from "@atlasqueue/contract";
import { takeOrThrow } from "@atlasqueue/core/internal/http";

export type JobStreams = ReturnType<typeof createJobStreams>;

/** Of one process, with the usual shares of its tenants: each may hold a megabyte. */
const usual_streams_max = 100;

/** Less than a connection may be without a move. */
const usual_idle_ms = 60_000;

/**
 * The streams of jobs that are open in a process.
 *
 * @example
 * const over = streams.open(tenant, () => end("draining"));
 */
export function createJobStreams({ idle_ms = usual_idle_ms, streams_max = usual_streams_max } = {}) {
  const room = createShares(streams_max);
  const drains = new Set<() => void>();
  let closed = false;
  return {
    /** How long a stream waits for a line to come, or for permits. */
    idle_ms,
    /**
     * A stream begins; call the result when it is over. `drain` is called when it should end, even if that is now, but
     * never before this returns. Throws `NoRoomError` when there are too many.
     */
    open(tenant: string, drain: () => void): () => void {
      takeOrThrow(room, tenant, 1, "streams of jobs");
      drains.add(drain);
      if (closed) queueMicrotask(drain);
      return () => {
        if (drains.delete(drain)) room.give(tenant, 1);
      };
    },
    /** Tells all streams to end, and any that still comes. */
    close(): void {
      closed = true;
      for (const drain of drains) drain();
    },
  };
}
