import { startFleet } from "../../run/worker-fleet.ts";
import { makeBatches } from "../../run/payload.ts";
import { onlyOurs, oursOf, type Figure, type Scenario } from "../scenario.ts";

const batch_jobs = 1_000;
const fleets = [1, 4, 16];
const warm_up_part = 0.5;

/** `process` of one hot queue with several worker processes, each with 500 handlers at once. */
export const scaleOut: Scenario = {
  name: "scale-out",
  suits: onlyOurs,
  minutes: 4,
  seconds_max: () => 600,
  async run(variant, servers, effort, meter) {
    const queue = await variant.open(servers);
    const add = async (jobs: number) => {
      for (const batch of makeBatches(jobs, batch_jobs)) await queue.addMany(batch);
      return jobs;
    };
    try {
      const figures: Figure[] = [];
      for (const processes of fleets) {
        const fleet = await startFleet(oursOf(variant), servers, processes, meter);
        try {
          await fleet.work(await add(Math.ceil(effort.jobs * warm_up_part)));
          const rate = await fleet.work(await add(effort.jobs));
          const scenario = `process, ${processes} worker ${processes === 1 ? "process" : "processes"}`;
          figures.push({
            scenario,
            ...rate,
            curve: { name: "process one hot queue", by: "worker processes", x: processes },
          });
        } finally {
          await fleet.stop();
        }
      }
      return figures;
    } finally {
      await queue.close();
    }
  },
};
