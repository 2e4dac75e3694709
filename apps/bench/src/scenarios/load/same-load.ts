import type { Meter } from "../../costs/meter.ts";
import { atPace } from "../../run/pace.ts";
import { makePayload } from "../../run/payload.ts";
import type { Timed } from "../../run/statistics.ts";
import type { BenchQueue } from "../../variants/variant.ts";
import { latencies } from "../mixed.ts";
import type { Scenario } from "../scenario.ts";
import { part, sustained } from "./sustained.ts";

const asked_figure = "same load: asked";

/**
 * The latency of a busy system, at one steady load for all: half of what the first variant of the round, ours by
 * default, sustains when it adds and processes at once. Jobs are added by bulk calls, a few milliseconds' worth each,
 * or the peers' producers could not keep up. From the call to the handler's first line; a job still waiting when the
 * time is over counts with what it has waited so far, so that a queue that cannot keep up shows it.
 */
export const sameLoad: Scenario = {
  name: "same-load",
  rounds_max: 1,
  minutes: 17,
  seconds_max: ({ sustain_seconds }) => sustain_seconds * 2 + 120,
  loadOf: (figures) => figures.find(({ scenario }) => scenario === asked_figure)?.value,
  async run(variant, servers, effort, meter) {
    const seconds = effort.sustain_seconds;
    const queue = await variant.open(servers);
    try {
      // All are warmed up by it.
      const rate_sustained = await sustained(
        queue,
        meter,
        effort.load_per_second === undefined ? Math.max(1, seconds / 4) : 0,
      );
      const per_second = effort.load_per_second ?? rate_sustained * part;
      const { taken, in_time, rate } = await addAtPace(queue, meter, per_second, seconds);
      return [
        { scenario: asked_figure, unit: "per second", value: per_second },
        { scenario: "same load: processed", ...rate },
        ...latencies("same load", taken),
        { scenario: "same load: processed in time", unit: "×", value: in_time / taken.length },
      ];
    } finally {
      await queue.close();
    }
  },
};

async function addAtPace(queue: BenchQueue, meter: Meter, per_second: number, seconds: number) {
  const started: number[] = [];
  const taken: number[] = [];
  let handled = 0;
  const working = await queue.work(({ n }) => {
    handled += 1;
    taken[n] ??= performance.now() - (started[n] ?? NaN);
  }, "throughput");
  const add = (count: number) => {
    const now = performance.now();
    return queue.addMany(Array.from({ length: count }, () => makePayload(started.push(now) - 1)));
  };
  const measurement = await meter.start();
  await atPace({ per_second, seconds }, add);
  const end = performance.now();
  const in_time = handled;
  const all = started.map((at_ms, n): Timed => ({ at_ms, ms: taken[n] ?? end - at_ms }));
  const rate = await measurement.end(Math.max(1, in_time), () => working.stop());
  if (all.length === 0) throw new Error("no job was added in time");
  return { taken: all, in_time, rate };
}
