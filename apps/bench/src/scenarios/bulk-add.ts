import type { BenchQueue } from "../variants/variant.ts";
import { default_bytes, makeBatches } from "../run/payload.ts";
import type { Effort, Scenario } from "./scenario.ts";

const batch_jobs = 1_000;
/** A bulk call is so fast that the jobs of other scenarios would be over in a blink. */
const more_jobs = 5;

/** One caller, 1,000 jobs per call. */
export const bulkAdd: Scenario = {
  name: "bulk-add",
  async run(variant, servers, effort) {
    const queue = await variant.open(servers);
    try {
      const jobs = Math.ceil(effort.jobs * more_jobs * variant.share);
      const value = await measureBulkAdd(queue, { ...effort, jobs });
      return [{ scenario: "bulk add by 1,000", unit: "per second", value }];
    } finally {
      await queue.close();
    }
  },
};

/** Jobs per second, after a warm-up with a fifth as many. */
export async function measureBulkAdd(
  queue: BenchQueue,
  effort: Pick<Effort, "jobs" | "seconds_max">,
  bytes = default_bytes,
): Promise<number> {
  const jobs = Math.max(batch_jobs, effort.jobs);
  for (const batch of makeBatches(Math.ceil(jobs / 5), batch_jobs, bytes)) await queue.addMany(batch);
  const batches = makeBatches(jobs, batch_jobs, bytes);
  let added = 0;
  const start = performance.now();
  for (const batch of batches) {
    await queue.addMany(batch);
    added += batch.length;
    if (performance.now() - start > effort.seconds_max * 1_000) break;
  }
  return (added / (performance.now() - start)) * 1_000;
}
