import { limits } from "@atlasqueue/contract";
import { AtlasQueueError, TimeoutError } from "../errors.ts";
import { backoffMs } from "../http/retry.ts";
import { pause } from "../http/time.ts";
import { answerMsMax } from "../resources/answer-deadline.ts";
import type { LeaseCalls, LeasedJob } from "../resources/leases.ts";
import type { LostLeases } from "../resources/lost-leases.ts";
import { createAllowance } from "./allowance.ts";
import type { Observe } from "./events.ts";
import type { HeldJobs } from "./held-jobs.ts";

/** After an empty answer that came early, as from an API that is stopping, do not ask again at once. */
const early_ms = 500;
/** A lease, or so long, a word of what was lost is waited for. */
const heard_ms_max = 30_000;

type Leasing = {
  calls: Pick<LeaseCalls, "lease">;
  lost: Pick<LostLeases, "heard">;
  held: HeldJobs;
  observe: Observe;
  concurrency: number;
  queue: string;
  request: { workerId: string; leaseSeconds: number; waitSeconds: number };
  /** `began_at`: when they were asked for, on the clock of `Date.now()`. */
  start(leased: readonly LeasedJob[], began_at: number): void;
  /** Aborts when nothing more may be leased. */
  stopping: AbortSignal;
};

/**
 * Leases jobs for the free slots until it is stopped, one request after another. Never rejects.
 *
 * @example
 * await keepLeasing({ calls, lost, held, observe, concurrency: 10, queue: "emails", request, start, stopping });
 */
export async function keepLeasing(leasing: Leasing): Promise<void> {
  const { calls, lost, held, observe, concurrency, queue, request, start, stopping } = leasing;
  const lease_ms = request.leaseSeconds * 1_000;
  const wait_ms = request.waitSeconds * 1_000;
  const allowance = createAllowance({ concurrency, lease_ms });

  let asked_ms = -Infinity;
  const lease = async (maxJobs: number): Promise<void> => {
    asked_ms = performance.now();
    const began_at = Date.now();
    const jobs = await calls.lease(queue, { ...request, maxJobs }, { signal: stopping, retries: 0 });
    const [job] = jobs;
    const now = performance.now();
    const took_ms = job ? now - (job.ends_at_ms - lease_ms) : now - asked_ms - wait_ms;
    // An empty answer that came early says nothing of how long others take, nor one that came as the machine slept.
    if (took_ms > 0) allowance.answered(took_ms, held.size() + jobs.length);
    start(jobs, began_at);
    if (!job && now - asked_ms < early_ms) await pause(early_ms * Math.random(), stopping);
  };

  const wanted = (): number => {
    const is_time = performance.now() >= asked_ms + allowance.restMs();
    return Math.min(held.free(), Math.max(allowance.left(held.size()), is_time ? 1 : 0), limits.lease_jobs_max);
  };
  /**
   * Whoever asks an API that is late for more, before it has said a word of what is lost, gives it more to take back. But a way
   * that swallows some calls and not others must not keep jobs from being run.
   */
  const heard = () =>
    lost.heard({
      within_ms: Math.min(lease_ms, heard_ms_max),
      answer_ms: answerMsMax(lease_ms),
      signal: stopping,
      silent: () => allowance.unanswered(),
    });
  const change = async (): Promise<void> => {
    const is_over = new AbortController();
    const rest_ms = held.free() > 0 ? asked_ms + allowance.restMs() - performance.now() : Infinity;
    await Promise.race([held.change(), pause(rest_ms, is_over.signal)]);
    is_over.abort();
  };

  /** After an answer that came too late it asks for half as many: their payloads may be more than the network carries in time. */
  for (let failures = 0, timeouts = 0; !stopping.aborted;) {
    const count = wanted();
    if (count === 0) {
      await change();
      continue;
    }
    try {
      await lease(Math.max(1, Math.floor(count / 2 ** timeouts)));
      failures = 0;
      timeouts = 0;
    } catch (error) {
      if (stopping.aborted) return;
      failures += 1;
      if (error instanceof TimeoutError) {
        timeouts += 1;
        allowance.unanswered();
      }
      observe({ event: "api_unavailable", during: "lease", error });
      const rest_ms = error instanceof AtlasQueueError ? (error.retryAfterMs ?? 0) : 0;
      await pause(rest_ms + backoffMs(failures, Math.random()), stopping);
      await heard();
      // How that comes tells how things are.
      asked_ms = -Infinity;
    }
  }
}
