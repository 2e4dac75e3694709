import type { TraceSpan } from "@atlasqueue/contract";
import type { Lease } from "@atlasqueue/core/internal/worker";
import { newRun, type Run } from "./group-runs.ts";
import { abort, lazyAbort, type LazyAbort } from "../run/lazy-abort.ts";

/**
 * A job this worker holds. `settling` once its outcome is on its way to the database, `gone` when it is no longer held:
 * read several times per job, where a look into a map would cost more. `ran_ms` counts from the start of its handler,
 * whose end sets it.
 */
export type RunningJob = {
  lease: Lease;
  abort: LazyAbort;
  phase: "handling" | "settling" | "gone";
  began_at: number;
  ran_ms: number;
  /** Of this attempt, where attempts are traced. */
  span: TraceSpan | undefined;
  run: Run;
  /** Its settlement is to take the next job of its group: it keeps its slot for that one. */
  goes_on: boolean;
};

/** Why a handler's signal was aborted. Its outcome no longer counts. */
class AbandonedError extends Error {
  override readonly name = "AbandonedError";
}

/**
 * The jobs a worker holds, and its free slots. A slot is free again when its handler ends, unless its worker goes on with
 * the job's group; the number of outcomes waiting for the database is bounded too, so an absent database stops the
 * claims.
 */
export function runningJobs(concurrency: number, unsettled_max: number) {
  const jobs = new Map<string, RunningJob>();
  let handling = 0;
  let reserved = 0;
  let changed: (() => void)[] = [];
  // By claim token, the jobs not settled yet, including those not begun; and the claims settled to the last job.
  const unsettled = new Map<string, number>();
  const settledClaims: { tenant: string; lease_token: string }[] = [];

  const tell = () => {
    if (changed.length === 0) return;
    const waiting = changed;
    changed = [];
    for (const resolve of waiting) resolve();
  };
  const holds = (job: RunningJob) => job.phase !== "gone";
  const remove = (job: RunningJob): boolean => {
    if (!holds(job)) return false;
    jobs.delete(job.lease.id);
    if (job.phase === "handling" || job.goes_on) handling -= 1;
    job.phase = "gone";
    tell();
    return true;
  };
  const abandon = (job: RunningJob, reason: string): void => {
    leave(job);
    abort(job.abort, new AbandonedError(reason));
  };
  const leave = (job: RunningJob): void => {
    if (remove(job)) unsettled.delete(job.lease.lease_token);
  };

  return {
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
      const older = jobs.get(lease.id);
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
      jobs.set(lease.id, job);
      handling += 1;
      return job;
    },
    /** True while the job is ours, so that its outcome counts. */
    holds,
    handlerEnded(job: RunningJob, ran_ms: number, goes_on = false): void {
      if (job.phase === "handling" && !goes_on) handling -= 1;
      job.goes_on = goes_on;
      job.phase = "settling";
      job.ran_ms = ran_ms;
      tell();
    },
    /** It cannot be settled for now, and leaves its slot to others. */
    endRun(job: RunningJob): void {
      if (!job.goes_on || !holds(job)) return;
      job.goes_on = false;
      handling -= 1;
      tell();
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
      const job = jobs.get(lease.id);
      return job?.lease === lease ? job : undefined;
    },
    /** No longer ours, but not settled by us: its claim is left to the sweep. */
    leave,
    /** Take a job from its handler: the lease is lost, or given back. */
    abandon,
    /** The claims whose last job has been settled since the last call. */
    takeSettledClaims: (batches_max: number) => settledClaims.splice(0, batches_max),
    all: () => [...jobs.values()],
    handlingCount: () => handling,
    size: () => jobs.size,
    concurrency,
    free: () => Math.max(0, Math.min(concurrency - handling, unsettled_max + concurrency - jobs.size) - reserved),
    /** Keep slots for a claim under way; call the result when the claim has come back. */
    reserve(slots: number): () => void {
      reserved += slots;
      return () => void (reserved -= slots);
    },
    /** Resolves at the next change of the above. */
    change: () => new Promise<void>((resolve) => changed.push(resolve)),
  };
}
export type RunningJobs = ReturnType<typeof runningJobs>;
