import type { Queue } from "@atlasqueue/contract";

/** The queues at one moment. */
export type Look = { at_ms: number; queues: readonly Queue[] };

/** Jobs a second that ended in each queue between two looks, one way or another. */
export function ratesBetween(before: Look | undefined, now: Look): Map<string, number> {
  if (!before || now.at_ms <= before.at_ms) return new Map();
  const ended = new Map(before.queues.map((queue) => [queue.queue, endedOf(queue)]));
  const seconds = (now.at_ms - before.at_ms) / 1_000;
  // What retention deletes meanwhile must not count as negative.
  return new Map(
    now.queues.map((queue) => [queue.queue, Math.max(0, (endedOf(queue) - (ended.get(queue.queue) ?? 0)) / seconds)]),
  );
}

function endedOf({ counts }: Queue): number {
  return (counts.succeeded ?? 0) + (counts.dead ?? 0);
}
