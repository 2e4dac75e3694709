import type { Meter, Rate } from "../costs/meter.ts";
import { atPace } from "../run/pace.ts";
import { percentile } from "../run/statistics.ts";
import { startSteadyLoad } from "../run/steady-load.ts";
import type { BenchQueue } from "../variants/variant.ts";
import { makePayload } from "../run/payload.ts";
import { onlyOurs, type Scenario } from "./scenario.ts";

const in_flight = 500;
const warm_up_seconds = 1;

/**
 * Adding and processing at once: half of the time as fast as both go together, the other half at half that rate,
 * however long the answers take, with the time from the call of `add` to the handler's first line.
 */
export const mixed: Scenario = {
  name: "mixed",
  suits: onlyOurs,
  seconds_max: ({ sustain_seconds }) => sustain_seconds * 2 + 60,
  async run(variant, servers, { sustain_seconds: seconds }, meter) {
    const queue = await variant.open(servers);
    try {
      const load = await startSteadyLoad(queue, meter, in_flight);
      let rate: Rate;
      try {
        await load.rateOver(warm_up_seconds);
        rate = await load.rateOver(seconds / 2);
      } finally {
        await load.stop();
      }
      const { achieved, taken } = await addAtPace(queue, meter, rate.value / 2, seconds / 2);
      return [
        { scenario: "add and process, sustained", ...rate },
        { scenario: "add and process, at half of that", ...achieved },
        { scenario: "end to end at half p50", unit: "ms", value: percentile(taken, 50) },
        { scenario: "end to end at half p99", unit: "ms", value: percentile(taken, 99) },
      ];
    } finally {
      await queue.close();
    }
  },
};

async function addAtPace(queue: BenchQueue, meter: Meter, per_second: number, seconds: number) {
  const started: number[] = [];
  const taken: number[] = [];
  const working = await queue.work(({ n }) => void taken.push(performance.now() - (started[n] ?? NaN)), "throughput");
  const adds: Promise<unknown>[] = [];
  const measurement = await meter.start();
  await atPace({ per_second, seconds }, (count) => {
    for (let added = 0; added < count; added += 1) {
      const n = started.push(performance.now()) - 1;
      adds.push(queue.add(makePayload(n)));
    }
  });
  await Promise.all(adds);
  while (!(await working.settled())) await new Promise((resolve) => setTimeout(resolve, 2));
  const achieved = await measurement.end(taken.length, () => working.stop());
  return { achieved, taken };
}
