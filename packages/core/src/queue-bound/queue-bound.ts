import type { Deps } from "../deps.ts";
import { countQueues, existingQueues } from "./queue-names.ts";
import { createKnownQueues } from "./known-queues.ts";
import { createQueueLookUp } from "./queue-look-up.ts";

export type QueueBound = {
  /**
   * Whether a tenant may use these queues: it has them, or has room for that many more. For queues this process knows
   * it costs a set lookup. Rejects with `TooManyQueuesError`, or as the database does.
   */
  admit(tenant: string, queues: readonly string[]): Promise<void>;
};

/** The tenant has as many queues as it may, and these are not among them. */
export class TooManyQueuesError extends Error {
  override readonly name = "TooManyQueuesError";
  constructor(queues_max: number, queue: string) {
    super(
      `There may be ${queues_max} queues, and ${JSON.stringify(queue)} would be one more; a queue counts while it has ` +
        "jobs, finished ones included, is paused or has limits",
    );
  }
}

/** Names one process remembers, for all tenants. */
const known_max = 100_000;
/** How long a count is valid: what this process adds meanwhile is added to it. */
const count_serves_ms = 1_000;

/**
 * Bounds each tenant's queues, as some of the system's work goes from queue to queue. Concurrent processes may exceed
 * the bound by what each lets in within a second: it bounds work, and is not a quota.
 *
 * @example
 * const bound = createQueueBound({ database }, { queues_per_tenant_max: 10_000 });
 * await bound.admit("default", ["mail"]);
 */
export function createQueueBound(
  deps: Pick<Deps, "database">,
  { queues_per_tenant_max }: { queues_per_tenant_max: number },
): QueueBound {
  const known = createKnownQueues({
    of_tenant_max: Math.min(queues_per_tenant_max, known_max),
    all_max: known_max,
  });
  const exists = createQueueLookUp((tenant, queues) => existingQueues(deps, tenant, queues));
  const counts = new Map<string, Promise<{ queues: number }>>();

  const counted = (tenant: string): Promise<{ queues: number }> => {
    const before = counts.get(tenant);
    if (before) return before;
    const count = countQueues(deps, tenant, queues_per_tenant_max).then((queues) => ({ queues }));
    const forget = () => counts.delete(tenant);
    counts.set(tenant, count);
    count.catch(forget);
    setTimeout(forget, count_serves_ms).unref();
    return count;
  };

  const letIn = async (tenant: string, queues: readonly string[]): Promise<void> => {
    const there = await Promise.all(queues.map((queue) => exists(tenant, queue)));
    const missing = queues.filter((_, at) => !there[at]);
    const count = missing.length > 0 ? await counted(tenant) : undefined;
    // No awaits from here on: of two simultaneous calls with one name, the second finds it known.
    const fresh = missing.filter((queue) => !known.has(tenant, queue));
    if (count) {
      const [one] = fresh;
      if (one !== undefined && count.queues + fresh.length > queues_per_tenant_max)
        throw new TooManyQueuesError(queues_per_tenant_max, one);
      count.queues += fresh.length;
    }
    for (const queue of queues) known.add(tenant, queue);
  };

  return {
    async admit(tenant, queues) {
      const unknown = queues.filter((queue) => !known.has(tenant, queue));
      if (unknown.length > 0) await letIn(tenant, [...new Set(unknown)]);
    },
  };
}
