import type { Deps } from "../src/deps.ts";
import { flowHandlers } from "../src/flows/handlers.ts";
import type { Released } from "../src/flows/release-children.ts";
import { releaseChildren as release } from "../src/flows/release-children.ts";
import { drainPage, type Drained } from "../src/outbox/drain-page.ts";
import { memorySignal } from "../src/signal/memory/signal.ts";
import { createArrivalLine } from "../src/submit/arrivals/line.ts";

/**
 * Act on the rows of the outbox until none is left that is due, and admit the children that are released into groups.
 *
 * @example
 * await advanceAndAdmit(deps);
 */
export async function advanceAndAdmit(deps: Deps): Promise<void> {
  const line = createArrivalLine({ ...deps, followUps: { admitted: async () => {} } });
  const handlers = flowHandlers({ ...deps, signal: memorySignal(), arrived: line.arrived });
  while ((await drainPage(deps, handlers, 500)).rows > 0);
  await line.idle();
}

/** One page of rows `parent_ended`. */
export const closeEdges = (deps: Deps, rows_max: number): Promise<Drained> => {
  const { parent_ended } = flowHandlers({ ...deps, signal: memorySignal(), arrived: () => {} });
  return drainPage(deps, { ...(parent_ended && { parent_ended }) }, rows_max);
};

/** One page of rows `recheck_child`, and what became of the children. */
export async function releaseChildren(deps: Deps, rows_max: number): Promise<Drained & Released> {
  let released: Released = { ready: [], arrived: [], cancelled: [] };
  const recheck_child = {
    version: 1,
    handle: ((execute, rows) =>
      release(deps, execute, rows, async (jobs) => void (released = jobs))) satisfies Parameters<
      typeof drainPage
    >[1][string]["handle"],
  };
  return { ...(await drainPage(deps, { recheck_child }, rows_max)), ...released };
}
