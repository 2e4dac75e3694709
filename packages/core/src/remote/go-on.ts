import { inOneTurn } from "../database/pool/on-behalf-of.ts";
import type { Deps } from "../deps.ts";
import type { HandedJob, LeasedJob } from "../lease/lease.ts";
import type { LeaseReturns } from "../lease/returns.ts";
import { completeAndTakeNext } from "../settle/complete-and-take-next.ts";
import type { Completion, SettleOutcome } from "../settle/complete.ts";
import { renewedIfLate } from "./renewed-if-late.ts";

/** The worker that goes on with the groups of the jobs it has done; `returns` takes back what cannot be handed over. */
export type GoOn = {
  worker_id: string;
  lease_seconds: number;
  /** Of the worker's own; with one that was used before, the groups go on without it. */
  lease_token?: string | undefined;
  returns: Pick<LeaseReturns, "unanswered" | "giveBack" | "full">;
};

/** `next` are the jobs that may be handed over. */
export type GoneOn = { outcomes: SettleOutcome[]; next: HandedJob[] };

/**
 * `complete`, and the next job of each one's group is leased to whoever asked for it, as `completeAndTakeNext` does for
 * our own workers. What was leased too late to be handed over goes back, with no attempt spent.
 *
 * @example
 * const { outcomes, next } = await completeAndGoOn(deps, completions, { worker_id, lease_seconds: 30, returns });
 */
export async function completeAndGoOn(
  deps: Deps,
  completions: readonly Completion[],
  { worker_id, lease_seconds, lease_token, returns }: GoOn,
): Promise<GoneOn> {
  const grouped = completions.filter(({ lease }) => lease.group_key !== null);
  // The database has not taken back what earlier moves may have leased: no more until it has.
  const tenant = completions[0]?.lease.tenant;
  const after = returns.full(tenant) ? [] : grouped.map(({ lease }) => lease.id);
  return inOneTurn(deps.database, async (database) => {
    const own = { ...deps, database, returns };
    const sent_at = performance.now();
    const { outcomes, next } = await completeAndTakeNext<LeasedJob>(own, completions, {
      worker_id,
      lease_seconds,
      lease_token,
      after,
      unanswered: (token) => returns.unanswered(token, tenant),
      whole: true,
    });
    const jobs = await renewedIfLate(own, [...next.values()], { lease_seconds }, sent_at).catch((error: unknown) => {
      // They go back. What is settled is settled, and said so.
      deps.observe({ event: "groups_failed", error: String(error) });
      return [];
    });
    return { outcomes, next: jobs };
  });
}
