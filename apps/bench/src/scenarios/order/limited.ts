import { makeBatches } from "../../run/payload.ts";
import { startFleet } from "../../run/worker-fleet.ts";
import { onlyOurs, oursOf, type Scenario } from "../scenario.ts";

const queue = "default";
const batch_jobs = 1_000;
/** Limited, it takes several times as long. */
const part_of_jobs = 0.25;
/** On the slowest machine that is worth measuring. */
const jobs_per_second_min = 200;
/** A fifth of the handlers that one worker has: each claim is cut short by what the others hold. */
const concurrency = 100;

/** `process` in a queue of which a hundred jobs may run at once, with a number of worker processes. */
export function limitedScenario(workers: number): Scenario {
  return {
    name: `limited-${workers}`,
    minutes: 2,
    suits: onlyOurs,
    seconds_max: ({ jobs }) => 120 + (jobs * part_of_jobs) / jobs_per_second_min,
    async run(variant, servers, effort, meter) {
      const ours = oursOf(variant);
      const producer = await ours.open(servers, { queue });
      const add = async (jobs: number) => {
        for (const batch of makeBatches(jobs, batch_jobs)) await producer.addMany(batch);
        return jobs;
      };
      try {
        await ours.limit(servers, { queue }, { concurrency });
        const fleet = await startFleet(ours, servers, workers, meter);
        try {
          const jobs = Math.ceil(effort.jobs * part_of_jobs);
          await fleet.work(await add(Math.ceil(jobs / 4)));
          const rate = await fleet.work(await add(jobs));
          const scenario = `process, ${concurrency} at once, ${workers} ${workers === 1 ? "worker" : "workers"}`;
          return [{ scenario, ...rate }];
        } finally {
          await fleet.stop();
        }
      } finally {
        await producer.close();
      }
    },
  };
}
