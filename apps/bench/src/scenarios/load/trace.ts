import { monitorEventLoopDelay } from "node:perf_hooks";
import { atPace } from "../../run/pace.ts";
import { makePayload } from "../../run/payload.ts";
import { percentile } from "../../run/statistics.ts";
import type { Journeys, Traced } from "../../variants/ours.ts";
import { onlyOurs, oursOf, type Figure, type Scenario } from "../scenario.ts";
import { part, sustained } from "./sustained.ts";

const slowest_part = 0.01;
const loop_resolution_ms = 1;
const asked_figure = "trace: asked";

/**
 * Where the time of a job goes at half of what is sustained, from its submission to its settlement: each stage in the
 * middle, and its mean in the slowest hundredth of the jobs. Noting it all costs something too, so its totals are not
 * for comparing with others'.
 */
export const trace: Scenario = {
  name: "trace",
  rounds_max: 1,
  minutes: 2,
  suits: onlyOurs,
  seconds_max: ({ sustain_seconds }) => sustain_seconds * 2 + 120,
  loadOf: (figures) => figures.find(({ scenario }) => scenario === asked_figure)?.value,
  async run(variant, servers, { sustain_seconds, load_per_second }, meter) {
    const seconds = Math.max(1, sustain_seconds / 4);
    const queue = await variant.open(servers);
    const rate = await sustained(queue, meter, load_per_second === undefined ? seconds : 0).finally(() =>
      queue.close(),
    );
    const per_second = load_per_second ?? rate * part;
    const traced = await oursOf(variant).openTraced(servers);
    const loop = monitorEventLoopDelay({ resolution: loop_resolution_ms });
    loop.enable();
    const journeys = await loaded(traced, { per_second, seconds });
    loop.disable();
    const ms = (scenario: string, value: number): Figure => ({ scenario, unit: "ms", value });
    const taken = journeys.taken();
    return [
      { scenario: asked_figure, unit: "per second", value: per_second },
      ...[50, 99].map((p) => ms(`trace: to the handler, p${p}`, percentile(taken, p))),
      ...journeys.stages(slowest_part).map(({ name, median_ms }) => ms(`${name}, p50`, median_ms)),
      ...journeys.stages(slowest_part).map(({ name, slowest_ms }) => ms(`${name}, slowest 1 %`, slowest_ms)),
      ms("trace: event loop late, p99", loop.percentile(99) / 1e6),
      ms("trace: event loop late, most", loop.max / 1e6),
    ];
  },
};

/** Its producer and worker at a steady rate, job by job. */
async function loaded(traced: Traced, load: { per_second: number; seconds: number }): Promise<Journeys> {
  const adds: Promise<unknown>[] = [];
  try {
    await atPace(load, (count) => {
      for (let added = 0; added < count; added += 1) adds.push(traced.add(makePayload(adds.length)));
    });
    await Promise.all(adds);
  } catch (error) {
    await traced.close();
    throw error;
  }
  return traced.close();
}
