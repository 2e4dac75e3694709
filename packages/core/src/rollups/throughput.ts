import type { Throughput } from "@atlasqueue/contract";
import type { Deps } from "../deps.ts";
import { readRollups } from "./series.ts";

const step_seconds = 180;
const steps = 20;

/**
 * What became of the jobs of some queues in the last hour, for a small chart of each: a row for each of its minutes is
 * read.
 *
 * @example
 * const { items } = await readThroughput(deps, "default", ["mails", "reports"]);
 */
export async function readThroughput(
  deps: Pick<Deps, "database">,
  tenant: string,
  queues: readonly string[],
): Promise<Throughput> {
  const rows = await readRollups(deps, tenant, { queues, step_seconds, items: steps });
  const [first] = rows;
  if (!first) throw new Error("a throughput gave no row");
  const items = [...new Set(queues)].map((queue) => ({
    queue,
    submitted: zeros(),
    succeeded: zeros(),
    failed: zeros(),
  }));
  const byQueue = new Map(items.map((item) => [item.queue, item]));
  for (const row of rows) {
    const item = byQueue.get(row.queue);
    if (!item || row.bucket === null || row.bucket >= steps) continue;
    for (const sum of ["submitted", "succeeded", "failed"] as const)
      item[sum][row.bucket] = (item[sum][row.bucket] ?? 0) + row[sum];
  }
  return { step_seconds, from: first.from.toISOString(), items };
}

const zeros = () => Array.from({ length: steps }, () => 0);
