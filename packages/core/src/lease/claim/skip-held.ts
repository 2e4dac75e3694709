import { composed } from "../../database/composed.ts";
import { isUnavailable } from "../../database/errors.ts";
import { isUuid, uuidArray } from "../../database/literals.ts";
import { onBehalfOf } from "../../database/pool/on-behalf-of.ts";
import { heldByNobody } from "../../database/skip-locked.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps, QueueRef } from "../../deps.ts";
import { isLimited } from "../../limits/room.ts";
import { peeked_max, type Signal } from "../../signal/signal.ts";

/** Told which of its ids a claim could not have, though it waited for none. Never rejects. */
export type SkipHeld = (tenant: string, ids: readonly string[]) => Promise<void>;

/**
 * Drops jobs that an open transaction holds from the front of their lists, up to a thousand at once: of thousands of
 * them, claims would take a handful at a time, and those behind would wait for it. The sweep signals them once they are
 * free. Each tenant's lists one after the other; queues with limits have others go in place of what is locked.
 *
 * @example
 * const skipHeld = createSkipHeld(deps);
 * await claim(deps, ids, { ...claimer, passed_over: skipHeld });
 */
export function createSkipHeld(deps: Deps & { signal: Signal }): SkipHeld {
  const under_way = new Set<string>();
  return async (tenant, ids) => {
    if (under_way.has(tenant)) return;
    under_way.add(tenant);
    const own = { ...deps, database: onBehalfOf(deps.database, { tenant }) };
    try {
      for (const queue of await queuesHeld(own, tenant, ids)) await skipHeld(own, queue);
    } catch (error) {
      // They are only dropped sooner than claims would.
      const event = isUnavailable(error) ? "database_unavailable" : "signal_failed";
      deps.observe({ event, during: "skipping locked jobs", error: String(error) });
    } finally {
      under_way.delete(tenant);
    }
  };
}

async function queuesHeld(deps: Deps, tenant: string, ids: readonly string[]): Promise<readonly QueueRef[]> {
  const params = [tenant, uuidArray(ids)];
  return executeOn(deps.database)<QueueRef>({ text: queuesOfHeld, params });
}

async function skipHeld({ database, signal }: Deps & { signal: Signal }, queue: QueueRef): Promise<void> {
  const listed = (await signal.peek(queue, peeked_max)).filter(isUuid);
  const params = [queue.tenant, queue.queue, uuidArray(listed)];
  const [found] = await executeOn(database)<{ id: string }>({ text: firstFree, params });
  const front = found?.id ?? listed.at(-1);
  if (front !== undefined && front !== listed[0]) await signal.skipTo(queue, front);
}

const queuesOfHeld = composed(
  "lease/queues-of-held",
  ["tenant", "ids"],
  `
  SELECT DISTINCT tenant, queue FROM atlasqueue.jobs
  WHERE id = ANY($2::uuid[]) AND tenant = $1 AND status = 'queued' AND NOT ${heldByNobody}
    AND NOT EXISTS (SELECT FROM atlasqueue.queues WHERE queues.tenant = $1 AND queues.queue = jobs.queue AND ${isLimited})`,
);

// In their order, to try no more of them than it takes to find one.
const firstFree = composed(
  "lease/first-free",
  ["tenant", "queue", "listed"],
  `
  SELECT id FROM (
    SELECT jobs.id, jobs.xmax FROM unnest($3::uuid[]) WITH ORDINALITY AS listed(id, place) JOIN atlasqueue.jobs USING (id)
    WHERE jobs.tenant = $1 AND jobs.queue = $2 AND status = 'queued' ORDER BY place OFFSET 0) AS jobs
  WHERE ${heldByNobody} LIMIT 1`,
);
