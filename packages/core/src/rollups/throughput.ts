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
  const items = new Map(
    queues.map((queue) => [queue, { queue, submitted: zeros(), succeeded: zeros(), failed: zeros() }]),
  );
  for (const { queue, bucket, submitted, succeeded, failed } of rows) {
    const item = items.get(queue);
    if (!item || bucket === null || bucket >= steps) continue;
    item.submitted[bucket] = (item.submitted[bucket] ?? 0) + submitted;
    item.succeeded[bucket] = (item.succeeded[bucket] ?? 0) + succeeded;
    item.failed[bucket] = (item.failed[bucket] ?? 0) + failed;
  }
  return { step_seconds, from: first.from.toISOString(), items: [...items.values()] };
}

const zeros = () => Array.from({ length: steps }, () => 0);
