import { isOutage } from "../../database/errors.ts";
import { recovered_max, recoverExpired } from "../../lease/recover.ts";
import { announce } from "../../signal/announce.ts";
import type { SweepDeps } from "../loop.ts";
import type { RecoveryGate } from "./recovery-gate.ts";

/** Claims looked at in one statement. */
const claims_max = 50;
/**
 * Statements in one sweep, which does its other duties meanwhile. Claims are looked at in the order in which they are
 * due, across tenants: more must be looked at than a tenant that lets its leases end can make in the same time.
 */
const rounds_max = 200;

/**
 * Make the jobs of silent workers ready again, `jobs_max` in a statement, and list those this kills as dead letters.
 * Goes on after a statement while `mayGoOn`. Returns how many.
 */
export async function recoverAll(deps: SweepDeps, jobs_max = recovered_max, mayGoOn = () => true): Promise<number> {
  let total = 0;
  for (let round = 0; round < rounds_max; round += 1) {
    const { requeued, dead, ready, more } = await recoverExpired(deps, claims_max, jobs_max);
    await announce(deps, requeued, "front");
    await announce(deps, ready);
    deps.followUps.requeued(requeued);
    // Whether their queues have limits was not looked up: each sweep wakes those.
    await deps.followUps.settled(dead.map((job) => ({ job, became: "dead", has_children: job.has_children })));
    total += requeued.length + dead.length;
    if (!more || !mayGoOn()) break;
  }
  return total;
}

/**
 * `recoverAll` while the gate is open. A failure closes it, and the next statement takes half as many jobs, in case they
 * were too many; each success doubles them again.
 *
 * @example
 * const recover = createRecovery(deps, gate);
 * const recovered = await recover();
 */
export function createRecovery(deps: SweepDeps, gate: Pick<RecoveryGate, "isOpen" | "close">): () => Promise<number> {
  let jobs_max = recovered_max;
  return async () => {
    if (!gate.isOpen()) return 0;
    try {
      const count = await recoverAll(deps, jobs_max, gate.isOpen);
      jobs_max = Math.min(2 * jobs_max, recovered_max);
      return count;
    } catch (error) {
      if (isOutage(error)) {
        jobs_max = Math.ceil(jobs_max / 2);
        gate.close();
      }
      throw error;
    }
  };
}
