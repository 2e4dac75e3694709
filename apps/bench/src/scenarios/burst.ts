import { atPace } from "../run/pace.ts";
import { startSteadyLoad } from "../run/steady-load.ts";
import { makePayload } from "../run/payload.ts";
import { onlyOurs, type Scenario } from "./scenario.ts";

const in_flight = 500;
const burst_seconds_max = 5;
const burst_factor = 5;
/** The ordinary load, as a part of what adding and processing can do together: five times it is more than that. */
const ordinary_part = 1 / 3;
const warm_up_seconds = 1;
const drain_seconds_max = 120;

/**
 * An ordinary load, then five times as much for five seconds, then the ordinary load again: how long until nothing is
 * waiting. Added by bulk calls, or the producer would be the bottleneck.
 */
export const burst: Scenario = {
  name: "burst",
  minutes: 1,
  suits: onlyOurs,
  async run(variant, servers, effort, meter) {
    const seconds = Math.min(burst_seconds_max, effort.sustain_seconds);
    const queue = await variant.open(servers);
    try {
      const load = await startSteadyLoad(queue, meter, in_flight);
      const ordinary = await load
        .rateOver(warm_up_seconds)
        .then(() => load.rateOver(seconds / 2))
        .then(({ value }) => value * ordinary_part)
        .finally(() => load.stop());

      let added = 0;
      let handled = 0;
      const working = await queue.work(() => void (handled += 1), "throughput");
      const add = (count: number) => {
        const payloads = Array.from({ length: count }, () => makePayload(added++));
        return queue.addMany(payloads);
      };
      // What is always under way at the ordinary load is not a backlog.
      const isEmpty = () => added - handled <= ordinary * 0.05;
      await atPace({ per_second: ordinary, seconds: seconds / 2 }, add);
      const start = performance.now();
      const asked = await atPace({ per_second: ordinary * burst_factor, seconds }, add);
      const end = performance.now();
      await atPace({ per_second: ordinary, seconds: drain_seconds_max, until: isEmpty }, add);
      const drain_seconds = (performance.now() - end) / 1_000;
      const drained = isEmpty();
      await working.stop();
      if (!drained) throw new Error(`jobs still waited ${drain_seconds_max} s after the burst`);
      return [
        { scenario: "burst, ordinary load", unit: "per second", value: ordinary },
        { scenario: "burst, added", unit: "per second", value: (asked / (end - start)) * 1_000 },
        { scenario: "burst, until the queue is empty again", unit: "s", value: drain_seconds },
      ];
    } finally {
      await queue.close();
    }
  },
};
