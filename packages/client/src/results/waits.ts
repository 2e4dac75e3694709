import { isFinal, limits, type Job } from "@atlasqueue/contract";
import { createSemaphore, pause } from "@atlasqueue/runtime";
import { TimeoutError } from "../errors.ts";
import { within } from "../http/time.ts";
import type { CallOptions } from "../http/transport.ts";

export type WaitOptions = {
  /** Rejects with TimeoutError after that; the job goes on. Default a minute; Infinity for no limit. */
  timeoutMs?: number | undefined;
  /** Aborting rejects with its reason; the job goes on. */
  signal?: AbortSignal | undefined;
};

export type WaitForJob = (id: string, options?: WaitOptions) => Promise<Job>;

/** For one request that waits on the server: shorter than proxies and load balancers allow. */
const hold_seconds_max = 20;
const poll_ms = 250;
/** Between two looks by one slot at jobs that are not final, while others wait for the slot. */
const crowd_pause_ms = 100;
/** For the answer with the job's status at the end of a wait. */
const last_word_ms_max = 1_000;

/**
 * Waits for jobs with at most `waits_max` requests at once, however many wait. Up to that number, each wait is a
 * request that the server holds until its job is final. Beyond it, they take turns: each has a quick look and goes to
 * the end of the line, so that unfinished jobs do not hold up finished ones.
 */
export function createWaits(
  look: (id: string, call: CallOptions, hold_seconds: number) => Promise<Job>,
  waits_max: number,
): WaitForJob {
  const slots = createSemaphore(waits_max);

  const untilFinal = async (id: string, timeout_ms: number, signal: AbortSignal): Promise<Job> => {
    const deadline = performance.now() + timeout_ms;
    for (;;) {
      await slots.enter(signal);
      try {
        const asked = performance.now();
        const left_ms = Math.max(deadline - asked, 0);
        const hold_seconds =
          slots.waiting() > 0 ? 0 : Math.min(hold_seconds_max, limits.wait_seconds_max, Math.floor(left_ms / 1_000));
        const job = await look(id, { retries: Infinity, retryMaxMs: left_ms, signal }, hold_seconds);
        if (isFinal(job.status)) return job;
        const now = performance.now();
        if (now >= deadline)
          throw new TimeoutError(`job ${id} was ${job.status} after ${timeout_ms} ms, and is left as it is`);
        // A server that answers early, because it is stopping, must not be asked again at once.
        const early = hold_seconds === 0 || now - asked < hold_seconds * 1_000 - poll_ms;
        const pause_ms = slots.waiting() > 0 ? crowd_pause_ms : poll_ms;
        if (early) await pause(Math.min(pause_ms, deadline - now), signal);
        signal.throwIfAborted();
      } finally {
        slots.leave();
      }
    }
  };

  return (id, { timeoutMs = 60_000, signal } = {}) =>
    within(
      timeoutMs + last_word_ms_max,
      signal,
      (ending) => untilFinal(id, timeoutMs, ending),
      () => new TimeoutError(`job ${id}: no response within ${timeoutMs} ms`),
    );
}
