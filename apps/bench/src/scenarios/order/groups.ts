import { measureProcess } from "../process.ts";
import { onlyOurs, oursOf, type Figure, type Scenario } from "../scenario.ts";

const groups = 1_000;
/** One group has one job at a time, and a settlement between each and the next. */
const one_group_share = 0.02;

/** `process` with jobs without a group, in 1,000 groups in turn, and all in one. */
export const groupScenario: Scenario = {
  name: "groups",
  minutes: 4,
  suits: onlyOurs,
  async run(variant, servers, effort, meter) {
    const ours = oursOf(variant);
    const figures: Figure[] = [];
    const measure = async (name: string, jobs: number, groupOf?: (n: number) => string) => {
      const queue = await ours.open(servers, { queue: `bench-${figures.length}`, ...(groupOf && { groupOf }) });
      try {
        figures.push({ scenario: name, ...(await measureProcess(queue, meter, jobs)) });
      } finally {
        await queue.close();
      }
    };
    await measure("process, ungrouped", effort.jobs);
    await measure("process, 1,000 groups", effort.jobs, (n) => `g${n % groups}`);
    await measure("process, one group", Math.ceil(effort.jobs * one_group_share), () => "g");
    return figures;
  },
};
