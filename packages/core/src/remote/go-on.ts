import { afterAPart } from "../database/errors.ts";
import { inOneTurn } from "../database/pool/fair-share.ts";
import type { Deps } from "../deps.ts";
import { wholeJob } from "../lease/take-leases.ts";
import { completeAndLeaseNext } from "../settle/complete-and-lease-next.ts";
import type { Completion, SettleOutcome } from "../settle/settle.ts";
import { findLeasedBefore, LeaseTokenUsedError, type Handed } from "./leased-before.ts";

/** The worker that goes on with the groups of the jobs it has done. */
export type GoOn = {
  worker_id: string;
  lease_seconds: number;
  /** Only jobs of these types are leased. Default: all. */
  types?: readonly string[] | undefined;
  /** The worker's own, so that the settlement may be repeated with it. */
  lease_token?: string | undefined;
  /** Releases what was leased without such a token, and cannot be handed over. */
  release(tenant: string, lease_token: string): void;
};

export type GoneOn = { outcomes: SettleOutcome[]; next: Handed };

/**
 * `complete`, and the next job of each one's group is leased to the worker, as `completeAndLeaseNext` does for our own
 * workers. Repeated with the same token, it has what is still leased under it.
 *
 * @example
 * const { outcomes, next } = await completeAndGoOn(deps, completions, { worker_id, lease_seconds: 30, release });
 */
export async function completeAndGoOn(
  deps: Deps,
  completions: readonly Completion[],
  { worker_id, lease_seconds, types, lease_token, release }: GoOn,
): Promise<GoneOn> {
  const grouped = completions.filter(({ lease }) => lease.group_key !== null);
  return inOneTurn(deps.database, async (database) => {
    const own = { ...deps, database };
    const sent_at = performance.now();
    const { outcomes, next } = await completeAndLeaseNext(own, completions, {
      worker_id,
      lease_seconds,
      types,
      lease_token,
      after: grouped.map(({ lease }) => lease.id),
      unanswered: lease_token === undefined ? (token, tenant) => release(tenant, token) : undefined,
      whole: true,
    });
    const taken = {
      jobs: [...next.values()].map(wholeJob),
      sent_at,
      remaining_ms: lease_seconds * 1_000,
      repeated: false,
    };
    const [one] = grouped;
    if (next.size > 0 || lease_token === undefined || !one) return { outcomes, next: taken };
    const asked = { tenant: one.lease.tenant, lease_token, worker_id };
    // With another worker's token nothing comes: what is settled is settled.
    const before = await findLeasedBefore(own, asked).catch((error: unknown) => {
      if (error instanceof LeaseTokenUsedError) return undefined;
      throw afterAPart(error);
    });
    return { outcomes, next: before ?? taken };
  });
}
