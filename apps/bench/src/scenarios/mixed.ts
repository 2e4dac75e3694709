import type { Meter, Rate } from "../costs/meter.ts";
import { atPace } from "../run/pace.ts";
import { percentile, tails, type Timed } from "../run/statistics.ts";
import { startSteadyLoad } from "../run/steady-load.ts";
import type { BenchQueue } from "../variants/variant.ts";
import { makePayload } from "../run/payload.ts";
import { onlyOurs, type Figure, type Scenario } from "./scenario.ts";

const in_flight = 500;
const warm_up_seconds = 1;

/**
 * Adding and processing at once: first as fast as both go together, then for as long at half that rate, however long the
 * answers take, with the time from the call of `add` to the handler's first line.
 */
export const mixed: Scenario = {
  name: "mixed",
  rounds_max: 2,
  minutes: 9,
  suits: onlyOurs,
  seconds_max: ({ sustain_seconds }) => sustain_seconds * 3 + 60,
  async run(variant, servers, { sustain_seconds: seconds }, meter) {
    const queue = await variant.open(servers);
    try {
      const load = await startSteadyLoad(queue, meter, in_flight);
      let rate: Rate;
      try {
        await load.rateOver(warm_up_seconds);
        rate = await load.rateOver(seconds);
      } finally {
        await load.stop();
      }
      const { achieved, taken } = await addAtPace(queue, meter, rate.value / 2, seconds);
      return [
        { scenario: "add and process, sustained", ...rate },
        { scenario: "add and process, at half of that", ...achieved },
        ...latencies("end to end at half", taken),
      ];
    } finally {
      await queue.close();
    }
  },
};

async function addAtPace(queue: BenchQueue, meter: Meter, per_second: number, seconds: number) {
  const started: number[] = [];
  const taken: Timed[] = [];
  const working = await queue.work(({ n }) => {
    const at_ms = started[n] ?? NaN;
    taken.push({ at_ms, ms: performance.now() - at_ms });
  }, "throughput");
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

/** The middle and the tail of them all, the tail of a usual second, and of the worst ten seconds. */
export function latencies(name: string, taken: readonly Timed[]): Figure[] {
  const all = taken.map(({ ms }) => ms);
  const { second_ms, worst_ms } = tails(taken);
  return [
    { scenario: `${name} p50`, unit: "ms", value: percentile(all, 50) },
    { scenario: `${name} p99`, unit: "ms", value: percentile(all, 99) },
    { scenario: `${name} p99, median second`, unit: "ms", value: second_ms },
    { scenario: `${name} p99, worst 10 s`, unit: "ms", value: worst_ms },
  ];
}
