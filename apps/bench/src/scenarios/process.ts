import type { BenchQueue } from "../variants/variant.ts";
import { makeBatches } from "./payload.ts";
import type { Scenario } from "./scenario.ts";

const batch_jobs = 1_000;
const look_ms = 2;

/**
 * Jobs that do nothing: all are there, then a worker starts, and the clock runs until the last one is settled in the
 * store. A smaller number goes first, untimed, through a worker of its own.
 */
export const processJobs: Scenario = {
  name: "process",
  async run(variant, servers, effort) {
    const queue = await variant.open(servers);
    try {
      const jobs = Math.ceil(effort.jobs * variant.share);
      await processAll(queue, Math.ceil(jobs / 4));
      const value = await processAll(queue, jobs);
      return [{ scenario: "process", unit: "per second", value }];
    } finally {
      await queue.close();
    }
  },
};

async function processAll(queue: BenchQueue, jobs: number): Promise<number> {
  for (const batch of makeBatches(jobs, batch_jobs)) await queue.addMany(batch);
  let handled = 0;
  const all = Promise.withResolvers<void>();
  const start = performance.now();
  const working = await queue.work(() => {
    handled += 1;
    if (handled === jobs) all.resolve();
  }, "throughput");
  await all.promise;
  while (!(await working.settled())) await new Promise((resolve) => setTimeout(resolve, look_ms));
  const elapsed_ms = performance.now() - start;
  await working.stop();
  if (handled !== jobs) throw new Error(`${handled} handler calls for ${jobs} jobs`);
  return (jobs / elapsed_ms) * 1_000;
}
