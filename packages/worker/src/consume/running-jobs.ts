import type { Lease } from "@atlasqueue/core/internal/worker";
import { createHeldJobs, heldJob, type Held, type Run } from "@atlasqueue/runtime";

/** A job this worker holds. */
export type RunningJob = Held & {
  lease: Lease;
  /** How long its handler took, once that has ended. */
  ran_ms: number;
};

/** When its lease ends, and is to be renewed. */
type Due = Pick<Held, "ends_at_ms" | "renew_at_ms">;

/** Why a handler's signal was aborted. Its outcome no longer counts. */
export class AbandonedError extends Error {
  override readonly name = "AbandonedError";
}
export const leaseLost = () => new AbandonedError("the lease was lost");

/** The slots of each queue that has its own, and who hears that all of them are taken, or no longer. */
export type OwnSlots = { of: ReadonlyMap<string, number>; setFull(queue: string, full: boolean): void };

/**
 * The jobs a worker holds, and the claims whose jobs have all been settled. With `slots`, each queue has its own:
 * a caller that asks for free ones names the queue.
 */
export function runningJobs(concurrency: number, unsettled_max: number, slots?: OwnSlots) {
  const byId = new Map<string, RunningJob>();
  let reserved = 0;
  /** By queue, with those reserved. */
  const taken = new Map<string, number>();
  const take = (queue: string, by: number): void => {
    const before = taken.get(queue) ?? 0;
    taken.set(queue, before + by);
    const max = slots?.of.get(queue) ?? Infinity;
    const is_full = before + by >= max;
    if (is_full !== before >= max) slots?.setFull(queue, is_full);
  };
  // By claim token, the jobs not settled yet; and the claims settled to the last job.
  const unsettled = new Map<string, number>();
  const settledClaims: { tenant: string; lease_token: string }[] = [];

  const forget = ({ lease }: RunningJob): void => {
    byId.delete(lease.id);
    // Not settled by us: its claim is left to the sweep. `settled` says otherwise.
    unsettled.delete(lease.lease_token);
  };
  const used = slots && (({ lease }: RunningJob, by: number) => take(lease.queue, by));
  const held = createHeldJobs<RunningJob>(concurrency, unsettled_max, forget, used);
  const add = (lease: Lease, due: Due, run?: Run): RunningJob => {
    // The same job under an older lease, which was lost without the keeper noticing yet.
    const older = byId.get(lease.id);
    if (older) held.abandon(older, leaseLost());
    const job = { ...heldJob({ traced: lease, ...due }, run), lease, ran_ms: 0 };
    byId.set(lease.id, job);
    return held.add(job);
  };

  return {
    ...held,
    /**
     * The jobs of a claim that has come back, added before the first of them is started: were that one settled alone, the
     * claim would be cleared away under the others.
     */
    claimed(leases: readonly Lease[], due: Due, runs?: ReadonlyMap<Lease, Run>) {
      for (const { lease_token } of leases) unsettled.set(lease_token, (unsettled.get(lease_token) ?? 0) + 1);
      return leases.map((lease) => add(lease, due, runs?.get(lease)));
    },
    /** The database has the outcome, or has said that the lease was lost. */
    settled(job: RunningJob): void {
      const { tenant, lease_token: token } = job.lease;
      const left = unsettled.get(token);
      if (!held.leave(job) || left === undefined) return;
      if (left > 1) unsettled.set(token, left - 1);
      else settledClaims.push({ tenant, lease_token: token });
    },
    /** The job of this lease, if it is held. */
    of(lease: Lease): RunningJob | undefined {
      const job = byId.get(lease.id);
      return job?.lease === lease ? job : undefined;
    },
    /** The claims whose last job has been settled since the last call. */
    takeSettledClaims: (batches_max: number) => settledClaims.splice(0, batches_max),
    concurrency,
    /** Of a queue with slots of its own, or else of all. */
    free(queue?: string): number {
      const own = queue === undefined ? Infinity : (slots?.of.get(queue) ?? Infinity) - (taken.get(queue) ?? 0);
      return Math.max(0, Math.min(held.free() - reserved, own));
    },
    /** Keep slots for a claim under way; call the result when the claim has come back. */
    reserve(count: number, queue?: string): () => void {
      const move = (by: number): void => {
        reserved += by;
        if (slots && queue !== undefined) take(queue, by);
      };
      move(count);
      return () => move(-count);
    },
  };
}
export type RunningJobs = ReturnType<typeof runningJobs>;
