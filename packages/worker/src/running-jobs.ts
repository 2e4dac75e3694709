import type { Lease } from "@atlasqueue/core";

/** A job this worker holds. `settling` from the moment its outcome is on its way to the database. */
export type RunningJob = { lease: Lease; abort: AbortController; phase: "handling" | "settling" };

/** Why a handler's signal was aborted. Its outcome no longer counts. */
export class AbandonedError extends Error {
  override readonly name = "AbandonedError";
}

/**
 * The jobs a worker holds, and its free slots. A slot is free again when the handler ends; how many outcomes may wait
 * for the database beside that is bounded too, so an absent database stops the claims.
 */
export function runningJobs(concurrency: number, unsettled_max: number) {
  const jobs = new Map<string, RunningJob>();
  let handling = 0;
  let changed: (() => void)[] = [];

  const tell = () => {
    const waiting = changed;
    changed = [];
    for (const resolve of waiting) resolve();
  };

  return {
    add(lease: Lease): RunningJob {
      const job: RunningJob = { lease, abort: new AbortController(), phase: "handling" };
      jobs.set(lease.lease_token, job);
      handling += 1;
      return job;
    },
    /** True when the job is still ours: its outcome counts. */
    holds: (job: RunningJob) => jobs.get(job.lease.lease_token) === job,
    handlerEnded(job: RunningJob): void {
      if (job.phase === "handling") handling -= 1;
      job.phase = "settling";
      tell();
    },
    remove(job: RunningJob): void {
      if (!jobs.delete(job.lease.lease_token)) return;
      if (job.phase === "handling") handling -= 1;
      tell();
    },
    /** Take a job from its handler: the lease is lost, or given back. */
    abandon(job: RunningJob, reason: string): void {
      this.remove(job);
      job.abort.abort(new AbandonedError(reason));
    },
    all: () => [...jobs.values()],
    handlingCount: () => handling,
    size: () => jobs.size,
    free: () => Math.max(0, Math.min(concurrency - handling, unsettled_max + concurrency - jobs.size)),
    /** Resolves at the next change of the above. */
    change: () => new Promise<void>((resolve) => changed.push(resolve)),
  };
}
export type RunningJobs = ReturnType<typeof runningJobs>;
