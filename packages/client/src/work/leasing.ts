import { limits } from "@atlasqueue/contract";
import { pause, type JobSource } from "@atlasqueue/runtime";
import { AtlasQueueError, ConflictError, isWordOfApi, TimeoutError } from "../errors.ts";
import { backoffMs } from "../http/retry.ts";
import { randomToken } from "../idempotency-key.ts";
import type { HeldJob } from "./held-jobs.ts";
import type { WorkerParts } from "./parts.ts";

/** After an empty response that came early, as from an API that is stopping, do not ask again at once. */
const early_ms = 500;
/** How long the release of an request without a response may take. */
const release_ms_max = 2_000;

type Wanted = { queue: string; concurrency: number; wait_seconds: number };

/**
 * Leases jobs for the free slots, one request after another, under one token until it has leased jobs: a request without a
 * response may still be on its way when the next one is answered, and what it leases is then had with the one after that. After
 * a timeout the worker uses half of its slots, and one more after each response. Never rejects.
 */
export function createLeasing(
  { calls, held, observe, worker_id, lease_seconds, types, stages, start }: WorkerParts,
  { queue, concurrency, wait_seconds }: Wanted,
): Pick<JobSource<HeldJob>, "take" | "stopTaking"> {
  const request = { workerId: worker_id, leaseSeconds: lease_seconds, waitSeconds: wait_seconds, types };
  const stopping = stages.draining.signal;
  /** What a request leased whose response was lost must be asked for again in time. */
  const rest_ms_max = (lease_seconds * 1_000) / 3;
  let slots = concurrency;
  let failures = 0;
  /** Under which jobs may be leased that no response had. */
  let open_token: string | undefined;
  const release = async (): Promise<void> => {
    if (open_token === undefined) return;
    const call = { retries: 0, timeoutMs: release_ms_max };
    await calls.releaseLease(open_token, call).then(
      () => (open_token = undefined),
      () => {},
    );
  };
  const rest = (ms = 0): Promise<void> => pause(ms + backoffMs((failures += 1), Math.random(), rest_ms_max), stopping);

  const lease = async (maxJobs: number): Promise<void> => {
    open_token ??= randomToken();
    const asked_at_ms = performance.now();
    try {
      const options = { ...request, maxJobs, leaseToken: open_token };
      const jobs = await calls.lease(queue, options, { signal: stopping, retries: 0 });
      const is_early = jobs.length === 0 && performance.now() - asked_at_ms < early_ms;
      // What was leased under a used token has ended, and its responses are early.
      if (jobs.length > 0 || is_early) open_token = undefined;
      failures = 0;
      slots = Math.min(concurrency, slots + 1);
      start(jobs, asked_at_ms);
      if (is_early) await pause(early_ms * Math.random(), stopping);
    } catch (error) {
      if (stopping.aborted) return;
      if (error instanceof TimeoutError) slots = Math.max(1, Math.floor(slots / 2));
      // Something else used it.
      if (error instanceof ConflictError && isWordOfApi(error)) open_token = undefined;
      observe({ event: "api_unavailable", during: "lease", error });
      await rest(error instanceof AtlasQueueError ? error.retryAfterMs : 0);
    }
  };

  return {
    async take() {
      const jobs_max = Math.min(held.free(), slots - held.handling(), limits.lease_jobs_max);
      if (jobs_max > 0) return lease(jobs_max);
      // Without a slot for the jobs of an open request, they go back at once, not when their lease ends.
      const change = held.change();
      await release();
      // If that failed as well, it is tried again.
      await (open_token === undefined ? change : Promise.race([change, rest()]));
    },
    stopTaking: release,
  };
}
