import type { QueueRef } from "../deps.ts";

const queues_max = 10_000;
const remembered_ms = 60_000;

export type AskedQueues = {
  note(queue: QueueRef): void;
  /** Those asked for within the last minute. */
  recent(): QueueRef[];
};

/**
 * The queues remote workers ask this process for: the only trace of their serving a queue. Beyond ten thousand, those
 * asked for longest ago make room.
 *
 * @example
 * asked.note({ tenant: "default", queue: "mail" });
 */
export function createAskedQueues(now: () => number = () => performance.now()): AskedQueues {
  const queues = new Map<string, QueueRef & { at: number }>();
  return {
    note({ tenant, queue }) {
      const name = `${tenant} ${queue}`;
      // To the end, so that the oldest are in front.
      queues.delete(name);
      queues.set(name, { tenant, queue, at: now() });
      if (queues.size > queues_max) queues.delete(queues.keys().next().value ?? "");
    },
    recent() {
      for (const [name, { at }] of queues) {
        if (now() - at < remembered_ms) break;
        queues.delete(name);
      }
      return [...queues.values()].map(({ tenant, queue }) => ({ tenant, queue }));
    },
  };
}
