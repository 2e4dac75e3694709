import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";

/** Those of the queues that have ready jobs and are not paused: one look into the index for each, in one statement. */
export async function readyAmong(deps: Pick<Deps, "database">, queues: readonly QueueRef[]): Promise<QueueRef[]> {
  const columns = [textArray(queues.map(({ tenant }) => tenant)), textArray(queues.map(({ queue }) => queue))];
  return [...(await executeOn(deps.database)<QueueRef>({ text, params: columns }))];
}

// LIMIT 1 makes the look an index scan of one row; EXISTS alone may become a join with the whole backlog.
const text = `
  SELECT wanted.tenant, wanted.queue FROM unnest($1::text[], $2::text[]) AS wanted(tenant, queue),
    LATERAL (SELECT FROM jobs WHERE jobs.tenant = wanted.tenant AND jobs.queue = wanted.queue AND ready_at IS NOT NULL
             LIMIT 1) AS ready
  WHERE NOT EXISTS (
    SELECT FROM queues WHERE queues.tenant = wanted.tenant AND queues.queue = wanted.queue AND paused_at IS NOT NULL)`;
