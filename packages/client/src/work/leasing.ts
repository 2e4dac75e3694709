import { limits } from "@atlasqueue/contract";
import { pause } from "@atlasqueue/runtime";
import { AtlasQueueError, ConflictError, isWordOfApi, TimeoutError } from "../errors.ts";
import { backoffMs } from "../http/retry.ts";
import { randomToken } from "../idempotency-key.ts";
import type { LeaseCalls, LeasedJob } from "../resources/leases.ts";
import type { Observe } from "./events.ts";
import type { HeldJobs } from "./held-jobs.ts";

/** After an empty answer that came early, as from an API that is stopping, do not ask again at once. */
const early_ms = 500;
/** How long the release of an unanswered request may take. */
const release_ms_max = 2_000;

type Leasing = {
  calls: Pick<LeaseCalls, "lease" | "releaseLease">;
  held: HeldJobs;
  observe: Observe;
  concurrency: number;
  queue: string;
  request: { workerId: string; leaseSeconds: number; waitSeconds: number; types: readonly string[] | undefined };
  /** `began_at`: when they were asked for, on the clock of `Date.now()`. */
  start(leased: readonly LeasedJob[], began_at: number): void;
  /** Aborts when nothing more may be leased. */
  stopping: AbortSignal;
};

/**
 * Leases jobs for the free slots until it is stopped, one request after another. A request that got no answer is repeated
 * with its token, and has the same jobs. After a timeout the worker uses half of its slots, and one more after each answer.
 * Never rejects.
 *
 * @example
 * await keepLeasing({ calls, held, observe, concurrency: 10, queue: "emails", request, start, stopping });
 */
export async function keepLeasing(leasing: Leasing): Promise<void> {
  const { calls, held, observe, concurrency, queue, request, start, stopping } = leasing;
  /** What a request leased whose response was lost must be asked for again in time. */
  const rest_ms_max = (request.leaseSeconds * 1_000) / 3;
  let slots = concurrency;
  /** Of a request that may have leased jobs, though no answer came. */
  let open_token: string | undefined;
  const released = (token: string): Promise<boolean> =>
    calls.releaseLease(token, { retries: 0, timeoutMs: release_ms_max }).then(
      () => true,
      () => false,
    );

  for (let failures = 0; !stopping.aborted;) {
    const maxJobs = Math.min(held.free(), slots - held.handling(), limits.lease_jobs_max);
    if (maxJobs <= 0) {
      // Without a slot for the jobs of an open request, they go back at once, not when their lease ends.
      const change = held.change();
      if (open_token !== undefined && (await released(open_token))) open_token = undefined;
      // Where that failed as well, it is tried again.
      if (open_token === undefined) await change;
      else await Promise.race([change, pause(backoffMs((failures += 1), Math.random(), rest_ms_max), stopping)]);
      continue;
    }
    open_token ??= randomToken();
    const asked_ms = performance.now();
    const began_at = Date.now();
    try {
      const options = { ...request, maxJobs, leaseToken: open_token };
      const jobs = await calls.lease(queue, options, { signal: stopping, retries: 0 });
      open_token = undefined;
      failures = 0;
      slots = Math.min(concurrency, slots + 1);
      start(jobs, began_at);
      if (jobs.length === 0 && performance.now() - asked_ms < early_ms) await pause(early_ms * Math.random(), stopping);
    } catch (error) {
      if (stopping.aborted) break;
      failures += 1;
      if (error instanceof TimeoutError) slots = Math.max(1, Math.floor(slots / 2));
      // Something else used it.
      if (error instanceof ConflictError && isWordOfApi(error)) open_token = undefined;
      observe({ event: "api_unavailable", during: "lease", error });
      const asked_ms = error instanceof AtlasQueueError ? (error.retryAfterMs ?? 0) : 0;
      await pause(asked_ms + backoffMs(failures, Math.random(), rest_ms_max), stopping);
    }
  }
  if (open_token !== undefined) await released(open_token);
}
