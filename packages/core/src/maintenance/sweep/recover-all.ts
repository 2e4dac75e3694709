import { recovered_max, recoverExpired } from "../../lease/recover.ts";
import { announce } from "../../signal/announce.ts";
import type { SweepDeps } from "../loop-deps.ts";

/** Claims looked at in one statement. */
const claims_max = 50;
/**
 * Statements in one sweep, which does its other duties meanwhile. Claims are looked at in the order in which they are
 * due, whosesoever they are: more must be looked at than a tenant that lets its leases end can make in the same time.
 */
const rounds_max = 200;

const always = () => Promise.resolve(true);

/**
 * Make the jobs of silent workers ready again, `jobs_max` in a statement, and list those this kills as dead letters.
 * After each statement `mayGoOn` says whether to go on: it may be told of an outage meanwhile. Returns how many.
 */
export async function recoverAll(deps: SweepDeps, jobs_max = recovered_max, mayGoOn = always): Promise<number> {
  let total = 0;
  for (let round = 0; round < rounds_max; round += 1) {
    const { requeued, dead, ready, more } = await recoverExpired(deps, claims_max, jobs_max);
    await announce(deps, requeued, "front");
    await announce(deps, ready);
    deps.followUps.requeued(requeued);
    // Whether their queues have limits was not looked up.
    await deps.followUps.settled(
      dead.map((job) => ({
        job: { ...job, limited: true },
        became: "dead",
        has_children: job.has_children,
      })),
    );
    total += requeued.length + dead.length;
    if (!more || !(await mayGoOn())) break;
  }
  return total;
}
