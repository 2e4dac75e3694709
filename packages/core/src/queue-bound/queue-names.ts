import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/** Where a queue leaves a trace: it has jobs, finished ones included, or is paused or limited. */
const traces = ["queue_counts", "queue_changes", "queues"];

/** Which of these queues a tenant has: a look into two indexes for each, and into the last second's changes. */
export async function existingQueues(
  deps: Pick<Deps, "database">,
  tenant: string,
  queues: readonly string[],
): Promise<string[]> {
  const params = [tenant, textArray(queues)];
  const rows = await executeOn(deps.database)<{ queue: string }>({ text: existing, params });
  return rows.map(({ queue }) => queue);
}

const isIn = (table: string) =>
  `EXISTS (SELECT FROM atlasqueue.${table} AS known WHERE known.tenant = $1 AND known.queue = wanted.queue)`;
const existing = composed(
  "queues/existing",
  ["tenant", "queues"],
  `
  SELECT wanted.queue FROM unnest($2::text[]) AS wanted(queue) WHERE ${traces.map(isIn).join(" OR ")}`,
);

/** How many queues a tenant has. Reads no further than `queues_max`: any more may be reported as that many. */
export async function countQueues(deps: Pick<Deps, "database">, tenant: string, queues_max: number): Promise<number> {
  const [row] = await executeOn(deps.database)<{ queues: number }>({ text: count, params: [tenant, queues_max] });
  return row?.queues ?? 0;
}

const namesIn = (table: string) => `(SELECT DISTINCT queue FROM atlasqueue.${table} WHERE tenant = $1 LIMIT $2::int)`;
const count = composed(
  "queues/count",
  ["tenant", "queues_max"],
  `
  SELECT count(*)::int AS queues FROM (${traces.map(namesIn).join(" UNION ")}) AS known`,
);
