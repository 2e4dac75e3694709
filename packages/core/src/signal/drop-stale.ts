import { composed } from "../database/composed.ts";
import { isUuid, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { hint } from "./announce.ts";
import { peeked_max, type Signal } from "./signal.ts";

/**
 * Drop the ids of jobs that are not ready from the front of the lists that these ids came from, up to a thousand of each
 * list at once. Sweeps that fill a lost list at the same time leave thousands in a row of jobs that have ended by then.
 */
export async function dropStale(
  deps: Deps & { signal: Signal },
  tenant: string,
  ids: readonly string[],
): Promise<void> {
  const queues = await executeOn(deps.database)<QueueRef>({ text: staleQueues, params: [tenant, uuidArray(ids)] });
  await hint(deps.observe, "take", async () => {
    for (const queue of queues) {
      const listed = (await deps.signal.peek(queue, peeked_max)).filter(isUuid);
      if (listed.length === 0) continue;
      const params = [queue.tenant, queue.queue, uuidArray(listed)];
      const [ready] = await executeOn(deps.database)<{ id: string }>({ text: firstReady, params });
      const front = ready?.id ?? listed.at(-1);
      if (front !== undefined && front !== listed[0]) await deps.signal.skipTo(queue, front);
    }
  });
}

const staleQueues = composed(
  "signal/stale-queues",
  ["tenant", "ids"],
  `
  SELECT DISTINCT tenant, queue FROM atlasqueue.jobs WHERE id = ANY($2::uuid[]) AND tenant = $1 AND status <> 'queued'`,
);

const firstReady = composed(
  "signal/first-ready",
  ["tenant", "queue", "listed"],
  `
  SELECT jobs.id FROM unnest($3::uuid[]) WITH ORDINALITY AS listed(id, place) JOIN atlasqueue.jobs USING (id)
  WHERE jobs.tenant = $1 AND jobs.queue = $2 AND status = 'queued' ORDER BY place LIMIT 1`,
);
