import { announce, hint, recoverExpired } from "@atlasqueue/core";
import type { WorkerDeps } from "../deps.ts";

/** Claims looked at in one statement; each may be of hundreds of jobs. */
const lease_batches_max = 50;
/** Statements in one sweep, so that its other duties get their turn. */
const rounds_max = 20;

/** Make the jobs of workers that went silent ready again, and show those that are dead by it. Returns how many. */
export async function recoverAll(deps: WorkerDeps): Promise<number> {
  let total = 0;
  for (let round = 0; round < rounds_max; round += 1) {
    const { requeued, dead, batches } = await recoverExpired(deps, lease_batches_max);
    await announce(deps, requeued, "front");
    if (dead.length > 0) await hint(deps.observe, "dead letter", () => deps.signal.deadLetters.add(dead));
    total += requeued.length + dead.length;
    if (batches < lease_batches_max) break;
  }
  return total;
}
