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
 * Leases jobs for the free slots, one request after another. A request without a response is repeated with its token, and has
 * the same jobs. If the repetition gets none, the token is released: the first request may still be on its way, and now leases
 * nothing. After a timeout the worker uses half of its slots, and one more after each response. Never rejects.
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
  /** Of a request that may have leased jobs, though no response came. */
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
    const is_repeated = open_token !== undefined;
    open_token ??= randomToken();
    const asked_at_ms = performance.now();
    try {
      const options = { ...request, maxJobs, leaseToken: open_token };
      const jobs = await calls.lease(queue, options, { signal: stopping, retries: 0 });
      if (jobs.length > 0 || !is_repeated) open_token = undefined;
      failures = 0;
      slots = Math.min(concurrency, slots + 1);
      start(jobs, asked_at_ms);
      const is_early = jobs.length === 0 && performance.now() - asked_at_ms < early_ms;
      await release();
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
