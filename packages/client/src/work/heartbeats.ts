import { outage_hold_ms, type Json } from "@atlasqueue/contract";
import type { Extender } from "@atlasqueue/runtime";
import { isDatabaseAway, LeaseLostError } from "../errors.ts";
import { backoffMs } from "../http/retry.ts";
import { isLost, isRefusal } from "./answers.ts";
import { holdOn, renewInMs, type HeldJob } from "./held-jobs.ts";
import type { WorkerParts } from "./parts.ts";

const progress_ms_min = 1_000;
const try_ms_max = 10_000;
/** An API may take that long to say that its database is down. */
const patience_ms = 3_000;
/** Between two tries near the end of a lease. */
const rest_ms_min = 200;

const leftMs = (job: HeldJob): number => job.ends_at_ms - performance.now();

/** How long one try may take: half of the time that the lease has left. If its response is lost, another try fits. */
function tryMs(left_ms: number): number {
  if (left_ms <= 0) return try_ms_max;
  return Math.max(1, Math.min(try_ms_max, Math.max(left_ms / 2, Math.min(patience_ms, left_ms * 0.7))));
}

/**
 * How long to rest after a failed renewal. While the API says that its database is down, that holds the job, and a try each
 * second is enough. Otherwise the rest of a lease is not slept through.
 */
function restMs(job: HeldJob, error: unknown): number {
  if (isDatabaseAway(error)) {
    holdOn([job]);
    return (Math.max(outage_hold_ms, leftMs(job)) / outage_hold_ms) * (500 + 500 * Math.random());
  }
  const rest_ms = backoffMs(job.failures, Math.random());
  const left_ms = leftMs(job);
  return left_ms > 0 ? Math.min(rest_ms, Math.max(left_ms / 2, rest_ms_min)) : rest_ms;
}

/** A lease that was not renewed in time ends its handler. One that has not begun may still be renewed. */
const canEnd = ({ phase, began_at_ms }: HeldJob): boolean => phase === "handling" && began_at_ms !== undefined;

/** When to send the next heartbeat: for the lease, for progress, or to find that the lease has ended. */
function nextAtMs(job: HeldJob): number {
  const next_ms = job.progress ? Math.min(job.due_at_ms, job.progress_at_ms) : job.due_at_ms;
  return canEnd(job) ? Math.min(next_ms, job.ends_at_ms) : next_ms;
}

/** Has progress sent with the next heartbeat, and a heartbeat each second at most. The latest wins. */
export function report(job: HeldJob, value: Json, wake: () => void): void {
  job.progress = { value };
  // Otherwise a heartbeat is under way.
  if (job.renew_at_ms < Infinity) job.renew_at_ms = nextAtMs(job);
  wake();
}

/**
 * Renews leases by a heartbeat for each job, which carries its progress. A handler is aborted when the API says that the lease
 * is lost, or when it could not be renewed in time: from then on another worker may have the job. While the API says that its
 * database is down, the handler goes on.
 */
export function heartbeats(
  parts: Pick<WorkerParts, "calls" | "held" | "observe" | "lease_seconds">,
): Extender<HeldJob> {
  const { calls, held, observe, lease_seconds } = parts;
  const lease_ms = lease_seconds * 1_000;
  const lose = (job: HeldJob): void => {
    // An outcome on its way may still be in time; its settlement will show.
    if (job.phase !== "handling") return void (job.due_at_ms = Infinity);
    held.abandon(job, new LeaseLostError(`job ${job.leased.job.id} is not held any more`));
    const during = job.began_at_ms === undefined ? "starting" : "handling";
    observe({ event: "lease_lost", job: job.leased.job, during });
  };

  const beat = async (job: HeldJob): Promise<void> => {
    const asked_ms = performance.now();
    const { progress } = job;
    job.progress = undefined;
    if (progress) job.progress_at_ms = asked_ms + progress_ms_min;
    const options = { leaseSeconds: lease_seconds, ...(progress ? { progress: progress.value } : {}) };
    try {
      const call = { retries: 0, timeoutMs: tryMs(leftMs(job)), signal: job.gone.signal };
      await calls.heartbeat(job.leased, options, call);
      job.ends_at_ms = asked_ms + lease_ms;
      job.due_at_ms = asked_ms + renewInMs(lease_ms);
      job.failures = 0;
      job.renewals += 1;
    } catch (error) {
      if (!held.holds(job)) return;
      if (isLost(error)) return lose(job);
      if (progress && isRefusal(error)) {
        // The API or a proxy refuses the progress. That must not cost the lease: the next heartbeat is sent at once, without it.
        observe({ event: "progress_refused", job: job.leased.job, error });
        job.due_at_ms = asked_ms;
        return;
      }
      observe({ event: "api_unavailable", during: "heartbeat", error });
      job.progress ??= progress;
      job.failures = isDatabaseAway(error) ? 0 : job.failures + 1;
      job.due_at_ms = performance.now() + restMs(job, error);
      // New progress waits as well, but not for as long as a long lease can.
      job.progress_at_ms = Math.min(job.due_at_ms, performance.now() + try_ms_max) + progress_ms_min;
    }
  };

  return {
    extend_max: 1,
    async extend(jobs) {
      for (const job of jobs) {
        if (canEnd(job) && leftMs(job) <= 0) lose(job);
        if (held.holds(job)) await beat(job);
        job.renew_at_ms = nextAtMs(job);
      }
    },
  };
}
