import { addScenario } from "./add.ts";
import { bulkAdd } from "./bulk-add.ts";
import { latency } from "./latency.ts";
import { processJobs } from "./process.ts";
import type { Scenario } from "./scenario.ts";

/** Those that need no more of our packages than their users do, so that `--compare` can run them with old ones. */
export const basicScenarios: readonly Scenario[] = [
  addScenario(1),
  addScenario(50),
  addScenario(500),
  bulkAdd,
  processJobs,
  latency,
];
