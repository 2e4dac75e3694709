import type { QueueRef } from "../deps.ts";

/**
 * Does something for queues whenever it is asked to: for a queue once at a time, and once more if it was asked meanwhile;
 * those of a tenant one after another. However often one tenant asks, others find room.
 *
 * @example
 * const widened = createQueueLines((queue) => noteAll(queue));
 * await widened({ tenant: "default", queue: "mail" });
 */
export function createQueueLines(work: (queue: QueueRef) => Promise<void>): (queue: QueueRef) => Promise<void> {
  /** By the tenant, in their order: the queues that wait, and first the one that is worked on. */
  const lines = new Map<string, Set<string>>();

  const goThrough = async (tenant: string, line: Set<string>): Promise<void> => {
    const failures: unknown[] = [];
    lines.set(tenant, line);
    for (const queue of line) {
      // Asked for from here on, it gets in line again.
      line.delete(queue);
      await work({ tenant, queue }).catch((error: unknown) => failures.push(error));
    }
    lines.delete(tenant);
    if (failures.length > 0) throw failures[0];
  };

  /** Resolves when it, and all that wait in its line, were worked on; at once if somebody else waits for that. */
  return async ({ tenant, queue }) => {
    const line = lines.get(tenant);
    if (line) return void line.add(queue);
    await goThrough(tenant, new Set([queue]));
  };
}
