import type { Deps } from "../deps.ts";
import type { Pass } from "../maintenance/advancer.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { advanceGroups } from "./advance.ts";

const handovers_max = 500;
/** Statements in one go, leaving a sweep time for its other duties. */
const rounds_max = 50;

/** Let the next job of each waiting group through, and signal it. */
export async function advanceAll(deps: Deps & { signal: Signal }): Promise<Pass & { total: number }> {
  let total = 0;
  for (let round = 0; round < rounds_max; round += 1) {
    const { handovers, left, ready } = await advanceGroups(deps, handovers_max);
    await announce(deps, ready);
    total += ready.length;
    if (handovers < handovers_max) return { total, left, more: false };
  }
  return { total, left: true, more: true };
}
