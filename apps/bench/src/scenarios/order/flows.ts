import type { Meter, Rate } from "../../costs/meter.ts";
import { makePayload } from "../../run/payload.ts";
import type { BenchQueue } from "../../variants/variant.ts";
import type { Figure, Scenario } from "../scenario.ts";

/** Of a small flow: nine that anyone may run, and one after them. */
const flow_jobs = 10;
const callers = 50;
/** The most one request takes here, and the least a large fan-in should be. */
const parents_max = 10_000;
const look_ms = 2;

/**
 * Jobs that wait for jobs: a thousand flows of ten, submitted by 50 callers while a worker runs, and one job that waits
 * for ten thousand. The clock runs from the first submission until the last job is settled in the store.
 */
export const flows: Scenario = {
  name: "flows",
  minutes: 5,
  suits: ({ name }) => ["atlasqueue", "bullmq-memory", "bullmq-durable", "pg-boss"].includes(name),
  async run(variant, servers, effort, meter) {
    const figures: Figure[] = [];
    const measure = async (scenario: string, sizes: readonly number[]) => {
      const queue = await variant.open(servers);
      try {
        figures.push({ scenario, ...(await measureFlows(queue, meter, sizes)) });
      } finally {
        await queue.close();
      }
    };
    const small = Math.ceil((effort.jobs / 20) * variant.share);
    const large = Math.min(parents_max, effort.jobs);
    await measure(
      `${flow_jobs} jobs a flow`,
      Array.from({ length: Math.min(small, 1_000) }, () => flow_jobs),
    );
    await measure(`one job after ${large.toLocaleString("en")}`, [large + 1]);
    return figures;
  },
};

/** One flow of each size. */
async function measureFlows(queue: BenchQueue, meter: Meter, sizes: readonly number[]): Promise<Rate> {
  const { addFlow } = queue;
  if (!addFlow) throw new Error("this queue has no flows");
  const jobs = sizes.reduce((sum, size) => sum + size, 0);
  let handled = 0;
  let added = 0;
  const all = Promise.withResolvers<void>();
  const working = await queue.work(() => {
    handled += 1;
    if (handled === jobs) all.resolve();
  }, "throughput");
  const measurement = await meter.start();
  const left = [...sizes];
  const caller = async () => {
    for (let size = left.pop(); size !== undefined; size = left.pop()) {
      const parents = Array.from({ length: size - 1 }, () => makePayload(added++));
      await addFlow(parents, makePayload(added++));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  await all.promise;
  while (!(await working.settled())) await new Promise((resolve) => setTimeout(resolve, look_ms));
  const rate = await measurement.end(jobs, () => working.stop());
  if (handled !== jobs) throw new Error(`${handled} handler calls for ${jobs} jobs`);
  return rate;
}
