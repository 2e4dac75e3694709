import type { TraceSpan } from "@atlasqueue/contract";
import type { Lease } from "@atlasqueue/core/internal/worker";
import { createHeldJobs, newRun, type Held, type Run } from "@atlasqueue/runtime";
import { abort, lazyAbort, type LazyAbort } from "../run/lazy-abort.ts";

/** A job this worker holds. `ran_ms` counts from the start of its handler, whose end sets it. */
export type RunningJob = Held & {
  lease: Lease;
  abort: LazyAbort;
  began_at: number;
  ran_ms: number;
  /** Of this attempt, where attempts are traced. */
  span: TraceSpan | undefined;
  run: Run;
};

/** Why a handler's signal was aborted. Its outcome no longer counts. */
class AbandonedError extends Error {
  override readonly name = "AbandonedError";
}

/** The jobs a worker holds, and the claims whose jobs have all been settled. */
export function runningJobs(concurrency: number, unsettled_max: number) {
  const held = createHeldJobs<RunningJob>(concurrency, unsettled_max);
  const byId = new Map<string, RunningJob>();
  let reserved = 0;
  // By claim token, the jobs not settled yet, including those not begun; and the claims settled to the last job.
  const unsettled = new Map<string, number>();
  const settledClaims: { tenant: string; lease_token: string }[] = [];

  const remove = (job: RunningJob): boolean => held.leave(job) && byId.delete(job.lease.id);
  const leave = (job: RunningJob): void => {
    if (remove(job)) unsettled.delete(job.lease.lease_token);
  };
  const abandon = (job: RunningJob, reason: string): void => {
    leave(job);
    abort(job.abort, new AbandonedError(reason));
  };

  return {
    ...held,
    /**
     * A claim has come back. Called before its first job is started, as that may be settled before the next one begins:
     * the claim would be taken for settled to the last job, and cleared away under those still to run.
     */
    claimed(leases: readonly Lease[]): void {
      for (const { lease_token } of leases) unsettled.set(lease_token, (unsettled.get(lease_token) ?? 0) + 1);
    },
    /** Not all jobs of a claim are started: it is left to the sweep. */
    notAllStarted(leases: readonly Lease[]): void {
      for (const { lease_token } of leases) unsettled.delete(lease_token);
    },
    add(lease: Lease, run = newRun()): RunningJob {
      // The same job under an older lease, which was lost without the keeper noticing yet.
      const older = byId.get(lease.id);
      if (older) abandon(older, "the lease was lost");
      const job: RunningJob = {
        lease,
        abort: lazyAbort(),
        phase: "handling",
        began_at: performance.now(),
        ran_ms: 0,
        span: undefined,
        run,
        goes_on: false,
      };
      byId.set(lease.id, job);
      return held.add(job);
    },
    /** The database has the outcome, or has said that the lease was lost. */
    settled(job: RunningJob): void {
      if (!remove(job)) return;
      const { tenant, lease_token: token } = job.lease;
      const left = unsettled.get(token);
      if (left === undefined) return;
      if (left > 1) unsettled.set(token, left - 1);
      else if (unsettled.delete(token)) settledClaims.push({ tenant, lease_token: token });
    },
    /** The job of this lease, if it is held. */
    of(lease: Lease): RunningJob | undefined {
      const job = byId.get(lease.id);
      return job?.lease === lease ? job : undefined;
    },
    /** No longer ours, but not settled by us: its claim is left to the sweep. */
    leave,
    /** Take a job from its handler: the lease is lost, or given back. */
    abandon,
    /** The claims whose last job has been settled since the last call. */
    takeSettledClaims: (batches_max: number) => settledClaims.splice(0, batches_max),
    concurrency,
    free: () => Math.max(0, held.free() - reserved),
    /** Keep slots for a claim under way; call the result when the claim has come back. */
    reserve(slots: number): () => void {
      reserved += slots;
      return () => void (reserved -= slots);
    },
  };
}
export type RunningJobs = ReturnType<typeof runningJobs>;
