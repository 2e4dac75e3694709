import { AtlasQueueError, LeaseLostError, NotFoundError } from "../errors.ts";
import { backoffMs } from "../http/retry.ts";
import { pause } from "../http/time.ts";
import type { LeaseCalls, LeasedJob } from "../resources/leases.ts";
import type { Observe } from "./events.ts";
import type { HeldJob, HeldJobs } from "./held-jobs.ts";

export type KeeperDeps = { calls: LeaseCalls; held: HeldJobs; observe: Observe; lease_seconds: number };

const progress_ms_min = 1_000;

/**
 * Renews the lease of one job three times per lease until the job is gone, and carries its progress. A handler is
 * aborted when the API says that the lease is lost, or when it could not be renewed in time: from then on another
 * worker may have the job.
 */
export async function keepLease({ calls, held, observe, lease_seconds }: KeeperDeps, job: HeldJob): Promise<void> {
  const lease_ms = lease_seconds * 1_000;
  let due_at_ms = job.ends_at_ms - (2 * lease_ms) / 3;
  let progress_at_ms = -Infinity;

  const lose = () => {
    // An outcome on its way may still be in time; its settlement will show.
    if (job.phase === "settling" || !held.holds(job)) return;
    held.abandon(job, new LeaseLostError(`job ${job.leased.job.id} is not held any more`));
    observe({ event: "lease_lost", job: job.leased.job, during: "handling" });
  };

  for (let failures = 0; held.holds(job);) {
    const next_ms = job.progress ? Math.min(due_at_ms, progress_at_ms + progress_ms_min) : due_at_ms;
    const wait_ms = Math.min(next_ms, job.phase === "handling" ? job.ends_at_ms : Infinity) - performance.now();
    if (wait_ms > 0) {
      await sleep(job, wait_ms);
      continue;
    }
    const asked_ms = performance.now();
    if (job.phase === "handling" && asked_ms >= job.ends_at_ms) return lose();
    const { progress } = job;
    job.progress = undefined;
    if (progress) progress_at_ms = asked_ms;
    // A try still under way when the lease ends has failed.
    const timeoutMs = job.phase === "handling" ? Math.max(1, Math.min(10_000, job.ends_at_ms - asked_ms)) : 10_000;
    const options = { leaseSeconds: lease_seconds, ...(progress ? { progress: progress.value } : {}) };
    try {
      await calls.heartbeat(job.leased, options, { retries: 0, timeoutMs });
      job.ends_at_ms = asked_ms + lease_ms;
      due_at_ms = asked_ms + lease_ms / 3;
      failures = 0;
    } catch (error) {
      if (!held.holds(job)) return;
      if (error instanceof LeaseLostError || error instanceof NotFoundError) return lose();
      if (progress && isRefusal(error)) {
        // Bad progress must not cost the lease: the next heartbeat goes at once, without it.
        observe({ event: "progress_refused", job: job.leased.job, error });
        due_at_ms = asked_ms;
        continue;
      }
      observe({ event: "api_unavailable", during: "heartbeat", error });
      job.progress ??= progress;
      failures += 1;
      due_at_ms = performance.now() + backoffMs(failures, Math.random());
      progress_at_ms = performance.now();
    }
  }
}

/** Whether a third of a lease may be over that was asked for, or last renewed, at `since`. */
export const isLate = (since: number, lease_seconds: number): boolean =>
  performance.now() - since > (lease_seconds * 1_000) / 3;

/**
 * Renew the lease of a job that is about to be started late: another worker may have it by now. Resolves with the time
 * from which it counts; undefined when it is lost, or cannot be renewed.
 */
export async function renewLate(
  { calls, observe, lease_seconds }: Omit<KeeperDeps, "held">,
  leased: LeasedJob,
): Promise<number | undefined> {
  const asked_ms = performance.now();
  try {
    await calls.heartbeat(leased, { leaseSeconds: lease_seconds });
    return asked_ms;
  } catch (error) {
    const { job } = leased;
    if (error instanceof LeaseLostError || error instanceof NotFoundError)
      observe({ event: "lease_lost", job, during: "starting" });
    else observe({ event: "api_unavailable", during: "heartbeat", error });
    return undefined;
  }
}

/** The API has read the request and will never accept it, or it cannot even be written as JSON. */
export function isRefusal(error: unknown): boolean {
  return !(error instanceof AtlasQueueError) || [400, 413, 422].includes(error.status ?? 0);
}

/** Until it is time, or the job is gone or has something to report. */
async function sleep(job: HeldJob, ms: number): Promise<void> {
  const woken = new AbortController();
  job.wake = () => woken.abort();
  await pause(ms, woken.signal);
}
