import type { Deps } from "../src/deps.ts";
import { advanceFlows, type FlowsCursor } from "../src/flows/advance.ts";
import type { Pass } from "../src/maintenance/advancer.ts";
import { memorySignal } from "../src/signal/memory/signal.ts";
import { createArrivalLine } from "../src/submit/arrivals/line.ts";

/**
 * Let children hear of their parents, and admit those that are released into groups.
 *
 * @example
 * await advanceAndAdmit(deps);
 */
export async function advanceAndAdmit(deps: Deps, cursor?: FlowsCursor): Promise<Pass> {
  const line = createArrivalLine({ ...deps, followUps: { admitted: async () => {} } });
  const pass = await advanceFlows({ ...deps, signal: memorySignal(), followUps: line }, cursor);
  await line.idle();
  return pass;
}
