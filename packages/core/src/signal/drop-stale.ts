import { composed } from "../database/composed.ts";
import { isUuid, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { hint, send } from "./announce.ts";
import type { ReadyJob, Signal } from "./signal.ts";

const ids_max = 1_000;

/**
 * Drop the ids of jobs that are not ready from the front of one tenant's lists, a thousand at once; the others go back in
 * their order. Sweeps that fill a lost list at the same time leave thousands in a row of jobs that have ended by then.
 */
export async function dropStale(
  deps: Deps & { signal: Signal },
  tenant: string,
  queues: readonly QueueRef[],
): Promise<void> {
  await hint(deps.observe, "take", async () => {
    const ids = new Set((await deps.signal.take(queues, ids_max)).filter(isUuid));
    if (ids.size === 0) return;
    const params = [tenant, uuidArray([...ids])];
    const ready = await executeOn(deps.database)<ReadyJob>({ text: readyAmong, params });
    if (ready.length > 0) await send(deps, ready, "front");
  });
}

const readyAmong = composed(
  "signal/ready-among",
  ["tenant", "ids"],
  `
  SELECT job.* FROM unnest($2::uuid[]) WITH ORDINALITY AS taken(id, place), LATERAL (
    SELECT id, tenant, queue, priority FROM jobs WHERE jobs.id = taken.id AND tenant = $1 AND status = 'queued' OFFSET 0) AS job
  ORDER BY place`,
);
