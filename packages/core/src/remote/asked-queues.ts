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
 * makes room which the tenant with the most asked for longest ago: names that one makes up push out no other's. Where
 * none has several, it is that of the tenant that asked longest ago. Costs the same however many tenants there are.
 *
 * @example
 * asked.note({ tenant: "default", queue: "mail" });
 */
export function createAskedQueues(now: () => number = () => performance.now()): AskedQueues {
  /** When each queue was asked for last; those asked for longest ago are in front, and so are their tenants. */
  const tenants = new Map<string, Map<string, number>>();
  let count = 0;
  /** The tenant with the most, as far as is known without going over all of them: each is compared when it asks. */
  let greediest = "";

  const sizeOf = (tenant: string): number => tenants.get(tenant)?.size ?? 0;
  const drop = (tenant: string, queues: Map<string, number>, queue: string): void => {
    if (queues.delete(queue)) count -= 1;
    if (queues.size === 0) tenants.delete(tenant);
  };
  const makeRoom = (): void => {
    const tenant = sizeOf(greediest) > 1 ? greediest : firstOf(tenants);
    const queues = tenants.get(tenant);
    if (queues) drop(tenant, queues, firstOf(queues));
  };

  return {
    note({ tenant, queue }) {
      const queues = tenants.get(tenant) ?? new Map<string, number>();
      if (queues.delete(queue)) count -= 1;
      queues.set(queue, now());
      tenants.delete(tenant);
      tenants.set(tenant, queues);
      count += 1;
      if (queues.size > sizeOf(greediest)) greediest = tenant;
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

const firstOf = (all: ReadonlyMap<string, unknown>): string => all.keys().next().value ?? "";
