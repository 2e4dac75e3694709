import { measureAdds } from "./add.ts";
import { measureBulkAdd } from "./bulk-add.ts";
import { measureProcess } from "./process.ts";
import type { Scenario } from "./scenario.ts";

const bytes = 4_096;

/**
 * `process`, `add-50` and `bulk-add` with payloads of 4 KB. Processing goes first, as adding leaves its jobs behind.
 */
export const payload4k: Scenario = {
  name: "payload-4k",
  async run(variant, servers, effort) {
    const jobs = Math.ceil(effort.jobs * variant.share);
    const queue = await variant.open(servers);
    try {
      const processed = await measureProcess(queue, jobs, bytes);
      const added = await measureAdds(queue, 50, { ...effort, jobs }, bytes);
      const bulk = await measureBulkAdd(queue, { ...effort, jobs }, bytes);
      return [
        { scenario: "add, 50 callers, 4 KB", unit: "per second", value: added },
        { scenario: "bulk add by 1,000, 4 KB", unit: "per second", value: bulk },
        { scenario: "process, 4 KB", unit: "per second", value: processed },
      ];
    } finally {
      await queue.close();
    }
  },
};
