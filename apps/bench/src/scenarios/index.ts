import { addScenario } from "./add.ts";
import { bulkAdd } from "./bulk-add.ts";
import { burst } from "./burst.ts";
import { flows } from "./order/flows.ts";
import { groupScenario } from "./order/groups.ts";
import { limitedScenario } from "./order/limited.ts";
import { history } from "./scale/history.ts";
import { inFlight } from "./in-flight.ts";
import { manyGroups } from "./scale/many-groups.ts";
import { manyQueues } from "./scale/many-queues.ts";
import { httpBatch, httpStream } from "./http/many.ts";
import { httpScenario } from "./http/submit.ts";
import { idle } from "./idle.ts";
import { sameLoad } from "./load/same-load.ts";
import { noisyNeighbour } from "./load/noisy-neighbour.ts";
import { latency } from "./latency.ts";
import { lateness } from "./lateness.ts";
import { memory } from "./memory.ts";
import { mixed } from "./mixed.ts";
import { openTransaction } from "./open-transaction.ts";
import { payload4k } from "./payload-4k.ts";
import { poolerScenario } from "./pooler.ts";
import { processJobs } from "./process.ts";
import { remote } from "./remote.ts";
import { scaleOut } from "./scale/scale-out.ts";
import type { Scenario } from "./scenario.ts";
import { soak } from "./ageing/soak.ts";
import { snapshots } from "./scale/snapshot.ts";
import { trace } from "./load/trace.ts";

/** In the order in which they run and appear in tables. */
export const scenarios: readonly Scenario[] = [
  addScenario(1),
  addScenario(50),
  addScenario(500),
  bulkAdd,
  processJobs,
  inFlight,
  latency,
  sameLoad,
  trace,
  httpScenario(50),
  httpScenario(200),
  httpBatch(1),
  httpBatch(4),
  httpStream(1),
  httpStream(4),
  remote,
  payload4k,
  groupScenario,
  limitedScenario(1),
  limitedScenario(8),
  flows,
  poolerScenario,
  scaleOut,
  manyQueues,
  manyGroups,
  mixed,
  burst,
  noisyNeighbour,
  lateness,
  idle,
  ...snapshots,
  openTransaction,
  memory,
  history,
  soak,
];

/** What `--quick` runs by default. */
export const quickScenarios: readonly string[] = ["add-50", "bulk-add", "process", "latency", "http-200"];
