import { LeaseLostError } from "../errors.ts";
import { firstAnswer, type Repeats } from "../http/first-answer.ts";
import { pause } from "../http/time.ts";
import type { LeaseCalls } from "../resources/leases.ts";
import { isLost, isRefusal } from "./answers.ts";
import type { Observe } from "./events.ts";
import type { HeldJob, HeldJobs } from "./held-jobs.ts";
import { againMs, createRests, renewInMs, try_ms_max } from "./rests.ts";

export type KeeperDeps = {
  calls: LeaseCalls;
  held: HeldJobs;
  observe: Observe;
  lease_seconds: number;
  repeats: Repeats;
};

const progress_ms_min = 1_000;

/**
 * Renews the lease of one job three to four times per lease until the job is gone, and carries its progress. A handler is
 * aborted when the API says that the lease is lost, or when it could not be renewed in time: from then on another
 * worker may have the job. While the API says that its database is away, the handler goes on.
 */
export async function keepLease(
  { calls, held, observe, lease_seconds, repeats }: KeeperDeps,
  job: HeldJob,
): Promise<void> {
  const lease_ms = lease_seconds * 1_000;
  let due_at_ms = job.ends_at_ms - lease_ms + renewInMs(lease_ms);
  let progress_at_ms = -Infinity;
  const rests = createRests(job);

  const lose = () => {
    // An outcome on its way may still be in time; its settlement will show.
    if (job.phase === "settling" || !held.holds(job)) return;
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
    const leftMs = () => job.ends_at_ms - performance.now();
    const renewed = async (signal: AbortSignal): Promise<number> => {
      const began_ms = performance.now();
      // A try still under way when the lease ends has failed.
      const timeoutMs = job.phase === "handling" ? Math.max(1, Math.min(try_ms_max, leftMs())) : try_ms_max;
      await calls.heartbeat(job.leased, options, { retries: 0, timeoutMs, signal });
      return began_ms;
    };
    try {
      const renewed_ms = await firstAnswer(renewed, () => againMs(leftMs()), repeats, job.gone.signal);
      job.ends_at_ms = renewed_ms + lease_ms;
      due_at_ms = renewed_ms + renewInMs(lease_ms);
      rests.renewed();
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
      due_at_ms = performance.now() + rests.afterMs(error);
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
