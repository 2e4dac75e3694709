import type { Meter, Rate } from "../costs/meter.ts";
import type { BenchQueue } from "../variants/variant.ts";
import { default_bytes, makeBatches } from "../run/payload.ts";
import type { Effort, Scenario } from "./scenario.ts";

const batch_jobs = 1_000;
/** Fewer calls would be over in a blink. */
const batches_min = 10;

/** One caller, 1,000 jobs per call. */
export const bulkAdd: Scenario = {
  name: "bulk-add",
  minutes: 4,
  async run(variant, servers, effort, meter) {
    const queue = await variant.open(servers);
    try {
      const jobs = Math.ceil(effort.jobs * variant.share);
      return [{ scenario: "bulk add by 1,000", ...(await measureBulkAdd(queue, meter, { ...effort, jobs })) }];
    } finally {
      await queue.close();
    }
  },
};

/** Jobs per second, after a warm-up with a fifth as many. */
export async function measureBulkAdd(
  queue: BenchQueue,
  meter: Meter,
  effort: Pick<Effort, "jobs" | "seconds_max">,
  bytes = default_bytes,
): Promise<Rate> {
  const jobs = Math.max(batch_jobs * batches_min, effort.jobs);
  for (const batch of makeBatches(Math.ceil(jobs / 5), batch_jobs, bytes)) await queue.addMany(batch);
  const batches = [...makeBatches(jobs, batch_jobs, bytes)];
  let added = 0;
  const measurement = await meter.start();
  const end = performance.now() + effort.seconds_max * 1_000;
  for (const batch of batches) {
    await queue.addMany(batch);
    added += batch.length;
    if (performance.now() > end) break;
  }
  return measurement.end(added);
}
