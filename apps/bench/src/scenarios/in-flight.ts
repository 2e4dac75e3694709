import { measureProcess } from "./process.ts";
import type { Figure, Scenario } from "./scenario.ts";

const settings = [10, 25, 100, 500, 1_000, 4_000];
const part_of_jobs = 0.25;

/** `process` with more and more jobs at once in the worker: which setting is the best of each queue. */
export const inFlight: Scenario = {
  name: "in-flight",
  suits: ({ kind }) => kind !== "bare",
  rounds_max: 1,
  minutes: 8,
  seconds_max: () => 600,
  async run(variant, servers, effort, meter) {
    const jobs = Math.ceil(effort.jobs * variant.share * part_of_jobs);
    const figures: Figure[] = [];
    const queue = await variant.open(servers);
    try {
      for (const in_flight of settings) {
        const rate = await measureProcess(queue, meter, jobs, { in_flight });
        const curve = { name: "process", by: "jobs in flight", x: in_flight };
        figures.push({ scenario: `process, ${in_flight.toLocaleString("en")} in flight`, ...rate, curve });
      }
      return figures;
    } finally {
      await queue.close();
    }
  },
};
