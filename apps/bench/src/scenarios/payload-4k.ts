import { measureAdds } from "./add.ts";
import { measureBulkAdd } from "./bulk-add.ts";
import { measureProcess } from "./process.ts";
import type { Scenario } from "./scenario.ts";

const bytes = 4_096;
/** So that they need no more room than the others. */
const part_of_jobs = 0.25;

/**
 * `process`, `add-50` and `bulk-add` with payloads of 4 KB. Processing goes first, as adding leaves its jobs behind.
 */
export const payload4k: Scenario = {
  name: "payload-4k",
  rounds_max: 2,
  minutes: 8,
  async run(variant, servers, effort, meter) {
    const jobs = Math.ceil(effort.jobs * variant.share * part_of_jobs);
    const queue = await variant.open(servers);
    try {
      const processed = await measureProcess(queue, meter, jobs, { bytes });
      const added = await measureAdds(queue, meter, 50, { ...effort, jobs }, bytes);
      const bulk = await measureBulkAdd(queue, meter, { ...effort, jobs }, bytes);
      return [
        { scenario: "add, 50 callers, 4 KB", ...added },
        { scenario: "bulk add by 1,000, 4 KB", ...bulk },
        { scenario: "process, 4 KB", ...processed },
      ];
    } finally {
      await queue.close();
    }
  },
};
