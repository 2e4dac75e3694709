import { setTimeout as delay } from "node:timers/promises";
import { percentile } from "../run/statistics.ts";
import { makePayload } from "../run/payload.ts";
import type { Figure, Scenario } from "./scenario.ts";

/** Long enough for the worker to settle and to wait again. */
const rest_ms = 4;
const jobs_max = 2_000;
const part_of_jobs = 0.05;
const warm_up_jobs = 50;

/** An idle system and one job at a time: from the call of `add` to the handler's first line. */
export const latency: Scenario = {
  name: "latency",
  minutes: 9,
  async run(variant, servers, effort) {
    const queue = await variant.open(servers);
    let entered = (_n: number) => {};
    const working = await queue.work(({ n }) => entered(n), "latency");
    try {
      const jobs = Math.min(jobs_max, Math.ceil(effort.jobs * part_of_jobs));
      const taken: number[] = [];
      for (let n = -warm_up_jobs; n < jobs; n += 1) {
        const entry = new Promise<number>((resolve) => {
          entered = (entered_n) => entered_n === n && resolve(performance.now());
        });
        const start = performance.now();
        const [entered_at] = await Promise.all([entry, queue.add(makePayload(n))]);
        if (n >= 0) taken.push(entered_at - start);
        await delay(rest_ms);
      }
      return [50, 99, 99.9].map((p): Figure => {
        return { scenario: `latency p${p}`, unit: "ms", value: percentile(taken, p) };
      });
    } finally {
      await working.stop();
      await queue.close();
    }
  },
};
