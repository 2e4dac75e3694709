import { makeBatches } from "../../run/payload.ts";
import { onlyOurs, oursOf, type Figure, type Scenario } from "../scenario.ts";
import { processAtMost } from "./process-at-most.ts";

const sizes = [1_000, 30_000, 1_000_000];
/** Jobs are dealt out to the groups, so each has one at least. Beyond this many groups for each measured job it takes too long. */
const groups_a_job_max = 5;
const batch_jobs = 1_000;

/** `process` of jobs that are dealt out to more and more groups, each of which has a job before the worker starts. */
export const manyGroups: Scenario = {
  name: "many-groups",
  suits: onlyOurs,
  rounds_max: 1,
  minutes: 5,
  seconds_max: () => 600,
  async run(variant, servers, { jobs }, meter) {
    const ours = oursOf(variant);
    const figures: Figure[] = [];
    for (const groups of sizes.filter((one) => one <= jobs * groups_a_job_max)) {
      const queue = `groups-${groups}`;
      const producer = await ours.open(servers, { queue, groupOf: (n) => `g${n % groups}` });
      try {
        for (const batch of makeBatches(Math.max(jobs, groups), batch_jobs)) await producer.addMany(batch);
      } finally {
        await producer.close();
      }
      const rate = await processAtMost(ours, servers, meter, { jobs, queue });
      const curve = { name: "process in groups", by: "groups", x: groups };
      figures.push({ scenario: `process, ${groups.toLocaleString("en")} groups with a job each`, ...rate, curve });
    }
    return figures;
  },
};
