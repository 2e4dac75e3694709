import type { Meter, Rate } from "../costs/meter.ts";
import type { BenchQueue } from "../variants/variant.ts";
import { makeBatches } from "../run/payload.ts";
import type { Scenario } from "./scenario.ts";

const batch_jobs = 1_000;
const look_ms = 2;

/**
 * Jobs that do nothing: all are there, then a worker starts, and the clock runs until the last one is settled in the
 * store. A smaller number goes first, untimed, through a separate worker.
 */
export const processJobs: Scenario = {
  name: "process",
  minutes: 9,
  async run(variant, servers, effort, meter) {
    const queue = await variant.open(servers);
    try {
      const jobs = Math.ceil(effort.jobs * variant.share);
      return [{ scenario: "process", ...(await measureProcess(queue, meter, jobs)) }];
    } finally {
      await queue.close();
    }
  },
};

/** Jobs a second. */
export async function measureProcess(queue: BenchQueue, meter: Meter, jobs: number, how: How = {}): Promise<Rate> {
  await processAll(queue, meter, Math.ceil(jobs / 4), how);
  return processAll(queue, meter, jobs, how);
}

/** The size of a payload, and how many jobs a worker has at once instead of its best number. */
type How = { bytes?: number; in_flight?: number };

async function processAll(queue: BenchQueue, meter: Meter, jobs: number, { bytes, in_flight }: How): Promise<Rate> {
  for (const batch of makeBatches(jobs, batch_jobs, bytes)) await queue.addMany(batch);
  let handled = 0;
  const all = Promise.withResolvers<void>();
  const measurement = await meter.start();
  const handle = () => {
    handled += 1;
    if (handled === jobs) all.resolve();
  };
  const working = await queue.work(handle, "throughput", in_flight);
  await all.promise;
  while (!(await working.settled())) await new Promise((resolve) => setTimeout(resolve, look_ms));
  const rate = await measurement.end(jobs, () => working.stop());
  if (handled !== jobs) throw new Error(`${handled} handler calls for ${jobs} jobs`);
  return rate;
}
