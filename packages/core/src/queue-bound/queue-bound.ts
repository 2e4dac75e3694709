import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

export type QueueBound = {
  /**
   * Whether a tenant may use all of these queues: it has them, or may have that many more. Rejects with
   * `TooManyQueuesError`, or as the database does.
   */
  admit(tenant: string, queues: readonly string[]): Promise<void>;
  /** Admits as many of them as fit, and returns the errors of the others by name. */
  admitEach(tenant: string, queues: readonly string[]): Promise<Map<string, TooManyQueuesError>>;
};

/** The tenant has as many queues as it may, and these are not among them. */
export class TooManyQueuesError extends Error {
  override readonly name = "TooManyQueuesError";
  constructor(queues_max: number, queue: string) {
    super(
      `There may be ${queues_max} queues, and ${JSON.stringify(queue)} would be one more; a queue counts while it has ` +
        "jobs, finished ones included, is paused, or has limits or defaults",
    );
  }
}

type Missing = { queue: string; queues: number };

/** Names one process remembers, for all tenants, and for how long. */
const known_max = 100_000;
const known_ms_max = 60_000;

/**
 * Bounds each tenant's queues, as some of the system's work goes from queue to queue. Names that a process has met within
 * a minute are not looked up again. Concurrent processes may exceed the bound by what they let in at once: it bounds work,
 * and is not a quota.
 *
 * @example
 * const bound = createQueueBound({ database }, { queues_per_tenant_max: 10_000 });
 * await bound.admit("default", ["mail"]);
 */
export function createQueueBound(
  deps: Pick<Deps, "database">,
  { queues_per_tenant_max }: { queues_per_tenant_max: number },
): QueueBound {
  let known = new Map<string, Set<string>>();
  let names = 0;
  let known_from = performance.now();

  const namesOf = (tenant: string): Set<string> => {
    if (names > known_max || performance.now() - known_from > known_ms_max) {
      known = new Map();
      names = 0;
      known_from = performance.now();
    }
    const own = known.get(tenant) ?? new Set();
    known.set(tenant, own);
    return own;
  };
  const remember = (own: Set<string>, queues: readonly string[]): void => {
    names -= own.size;
    for (const queue of queues) own.add(queue);
    names += own.size;
  };
  /** Those that do not fit. The others are remembered: all that fit, or all if `together`. */
  const refusedOf = async (tenant: string, queues: readonly string[], together: boolean): Promise<string[]> => {
    const met = namesOf(tenant);
    const unknown = [...new Set(queues.filter((queue) => !met.has(queue)))];
    if (unknown.length === 0) return [];
    const params = [tenant, textArray(unknown), queues_per_tenant_max];
    const missing = await executeOn(deps.database)<Missing>({ text: look, params });
    // No awaits from here on: what others let in meanwhile counts, stored or not.
    const own = namesOf(tenant);
    const fresh = missing.map(({ queue }) => queue).filter((queue) => !own.has(queue));
    remember(
      own,
      unknown.filter((queue) => !fresh.includes(queue)),
    );
    const room = Math.max(0, queues_per_tenant_max - Math.max(missing[0]?.queues ?? 0, own.size));
    const refused = fresh.slice(room);
    if (refused.length === 0 || !together) remember(own, fresh.slice(0, room));
    return refused;
  };

  return {
    async admit(tenant, queues) {
      const [refused] = await refusedOf(tenant, queues, true);
      if (refused !== undefined) throw new TooManyQueuesError(queues_per_tenant_max, refused);
    },
    async admitEach(tenant, queues) {
      const refused = await refusedOf(tenant, queues, false);
      return new Map(refused.map((queue) => [queue, new TooManyQueuesError(queues_per_tenant_max, queue)]));
    },
  };
}

/** Where a queue leaves a trace: it has jobs, finished ones included, or is paused or limited. */
const traces = ["queue_counts", "queue_changes", "queues"];
const isIn = (table: string) =>
  `EXISTS (SELECT FROM atlasqueue.${table} AS known WHERE known.tenant = $1 AND known.queue = wanted.queue)`;
const namesIn = (table: string) => `(SELECT DISTINCT queue FROM atlasqueue.${table} WHERE tenant = $1 LIMIT $3::int)`;

// They are counted only if one is missing, and no further than to the bound.
const look = composed(
  "queues/missing",
  ["tenant", "queues", "queues_max"],
  `
  SELECT wanted.queue, (SELECT count(*)::int FROM (${traces.map(namesIn).join(" UNION ")}) AS known) AS queues
  FROM unnest($2::text[]) WITH ORDINALITY AS wanted(queue, place)
  WHERE NOT (${traces.map(isIn).join(" OR ")})
  ORDER BY place`,
);
