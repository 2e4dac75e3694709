import { outage_hold_ms } from "@atlasqueue/contract";
import { pause } from "@atlasqueue/runtime";
import { isDatabaseAway, LeaseLostError } from "../errors.ts";
import { backoffMs } from "../http/retry.ts";
import type { LeaseCalls } from "../resources/leases.ts";
import { isLost, isRefusal } from "./answers.ts";
import type { Observe } from "./events.ts";
import { holdOn, type HeldJob, type HeldJobs } from "./held-jobs.ts";

export type KeeperDeps = {
  calls: Pick<LeaseCalls, "heartbeat">;
  held: HeldJobs;
  observe: Observe;
  lease_seconds: number;
};

const progress_ms_min = 1_000;
const try_ms_max = 10_000;
/** An API may take that long to say that its database is away. */
const patience_ms = 3_000;
/** Between two tries near the end of a lease. */
const rest_ms_min = 200;

const leftMs = (job: HeldJob): number => job.ends_at_ms - performance.now();

/** How long one try may take: half of the time that the lease has left. If its response is lost, another try fits. */
const tryMs = (left_ms: number): number =>
  Math.max(1, Math.min(try_ms_max, Math.max(left_ms / 2, Math.min(patience_ms, left_ms * 0.7))));

/**
 * When to renew a lease that has just begun: after a third of it at most, and not at the same moment as all others that were
 * leased with it, or an API would have the renewals of thousands of jobs at once, over and over.
 */
const renewInMs = (lease_ms: number): number => (lease_ms * (3 + Math.random())) / 12;

/**
 * How long to rest after a failed renewal. While the API says that its database is down, that holds the job, and a try each
 * second is enough. Otherwise the rest of a lease is not slept through.
 */
function restMs(job: HeldJob, error: unknown, failures: number): number {
  if (isDatabaseAway(error)) {
    holdOn([job]);
    return (Math.max(outage_hold_ms, leftMs(job)) / outage_hold_ms) * (500 + 500 * Math.random());
  }
  const rest_ms = backoffMs(failures, Math.random());
  const left_ms = leftMs(job);
  return left_ms > 0 ? Math.min(rest_ms, Math.max(left_ms / 2, rest_ms_min)) : rest_ms;
}

/** Whether less than half of the lease is left: the answer was late, or this process stood still. */
export const isLate = (job: HeldJob, lease_seconds: number): boolean => leftMs(job) < (lease_seconds * 1_000) / 2;

/**
 * Renew the lease of a job that is about to be started late: another worker may have it by now. Resolves with false if it
 * must not start: it is lost, or was given back meanwhile, or nothing was answered for half a lease and it is to be given
 * back.
 */
export async function renewBeforeStart(deps: KeeperDeps, job: HeldJob): Promise<boolean> {
  const { calls, held, observe, lease_seconds } = deps;
  const lease_ms = lease_seconds * 1_000;
  const asked_ms = performance.now();
  const retryMaxMs = Math.max(leftMs(job), lease_ms / 2);
  const isOurs = () => job.phase === "handling";
  try {
    const call = { timeoutMs: tryMs(retryMaxMs), retryMaxMs, signal: job.stop.signal };
    await calls.heartbeat(job.leased, { leaseSeconds: lease_seconds }, call);
    job.ends_at_ms = asked_ms + lease_ms;
    return isOurs() && leftMs(job) > 0;
  } catch (error) {
    if (!isOurs()) return false;
    if (isLost(error)) {
      held.leave(job);
      observe({ event: "lease_lost", job: job.leased.job, during: "starting" });
      return false;
    }
    observe({ event: "api_unavailable", during: "heartbeat", error });
    // A renewal whose answer was lost may hold it.
    job.ends_at_ms = performance.now() + lease_ms;
    return false;
  }
}

/**
 * Renews the lease of one job three to four times per lease until the job is gone, and carries its progress. A handler is
 * aborted when the API says that the lease is lost, or when it could not be renewed in time: from then on another
 * worker may have the job. While the API says that its database is away, the handler goes on.
 */
export async function keepLease({ calls, held, observe, lease_seconds }: KeeperDeps, job: HeldJob): Promise<void> {
  const lease_ms = lease_seconds * 1_000;
  let due_at_ms = job.ends_at_ms - lease_ms + renewInMs(lease_ms);
  let progress_at_ms = -Infinity;
  let failures = 0;

  const lose = () => {
    // An outcome on its way may still be in time; its settlement will show.
    if (job.phase !== "handling") return;
    held.abandon(job, new LeaseLostError(`job ${job.leased.job.id} is not held any more`));
    observe({ event: "lease_lost", job: job.leased.job, during: "handling" });
  };

  while (held.holds(job)) {
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
    const options = { leaseSeconds: lease_seconds, ...(progress ? { progress: progress.value } : {}) };
    const left_ms = leftMs(job);
    const timeoutMs = left_ms > 0 ? tryMs(left_ms) : try_ms_max;
    try {
      await calls.heartbeat(job.leased, options, { retries: 0, timeoutMs, signal: job.gone.signal });
      job.ends_at_ms = asked_ms + lease_ms;
      due_at_ms = asked_ms + renewInMs(lease_ms);
      failures = 0;
    } catch (error) {
      if (!held.holds(job)) return;
      if (isLost(error)) return lose();
      if (progress && isRefusal(error)) {
        // Bad progress must not cost the lease, whoever does not let it through: the next heartbeat goes at once, without it.
        observe({ event: "progress_refused", job: job.leased.job, error });
        due_at_ms = asked_ms;
        continue;
      }
      observe({ event: "api_unavailable", during: "heartbeat", error });
      job.progress ??= progress;
      failures = isDatabaseAway(error) ? 0 : failures + 1;
      due_at_ms = performance.now() + restMs(job, error, failures);
      // New progress waits as well, but not for as long as a long lease can.
      progress_at_ms = Math.min(due_at_ms, performance.now() + try_ms_max);
    }
  }
}

/** Until it is time, or the job is gone or has something to report. */
async function sleep(job: HeldJob, ms: number): Promise<void> {
  const woken = new AbortController();
  job.wake = () => woken.abort();
  await pause(ms, woken.signal);
}
