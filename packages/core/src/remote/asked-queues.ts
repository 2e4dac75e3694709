import type { QueueRef } from "../deps.ts";

const queues_max = 10_000;
const remembered_ms = 60_000;

export type AskedQueues = {
  note(queue: QueueRef): void;
  /** Those asked for within the last minute. */
  recent(): QueueRef[];
};

/**
 * The queues remote workers ask this process for: the only trace of their serving a queue. Beyond ten thousand, that one
 * makes room which the tenant with the most asked for longest ago: names that one makes up push out no other's.
 *
 * @example
 * asked.note({ tenant: "default", queue: "mail" });
 */
export function createAskedQueues(now: () => number = () => performance.now()): AskedQueues {
  /** When each queue was asked for last; those asked for longest ago are in front. */
  const tenants = new Map<string, Map<string, number>>();
  let count = 0;

  const drop = (tenant: string, queues: Map<string, number>, queue: string): void => {
    if (queues.delete(queue)) count -= 1;
    if (queues.size === 0) tenants.delete(tenant);
  };
  const makeRoom = (): void => {
    const [tenant, queues] = [...tenants].reduce((most, one) => (one[1].size > most[1].size ? one : most));
    drop(tenant, queues, queues.keys().next().value ?? "");
  };

  return {
    note({ tenant, queue }) {
      const queues = tenants.get(tenant) ?? new Map<string, number>();
      if (queues.delete(queue)) count -= 1;
      queues.set(queue, now());
      tenants.set(tenant, queues);
      count += 1;
      if (count > queues_max) makeRoom();
    },
    recent() {
      const recent: QueueRef[] = [];
      for (const [tenant, queues] of tenants)
        for (const [queue, at] of queues)
          if (now() - at < remembered_ms) recent.push({ tenant, queue });
          else drop(tenant, queues, queue);
      return recent;
    },
  };
}
