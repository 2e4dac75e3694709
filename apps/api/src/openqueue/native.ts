import type { OpenQueueSubmit, SubmitJob } from "@atlasqueue/contract";
import type { BackoffPolicy } from "@atlasqueue/core";

/** The type of every job that comes in here, as OpenQueue's have none: our workers register a handler for it. */
const openQueueType = "openqueue";

/** A retry waits min(2^retry_count, 300) s. */
const backoff = { kind: "exponential", base_seconds: 1, max_seconds: 300 } as const;

/** How long a nack here waits when the job does not say: to the second, so without jitter. */
export const openQueueBackoff: BackoffPolicy = {
  baseSeconds: backoff.base_seconds,
  maxSeconds: backoff.max_seconds,
  jitterMaxSeconds: 0,
};

/**
 * An OpenQueue job as the request that would make it on /v1.
 *
 * @example
 * nativeRequest({ queue_name: "mail", payload: {}, priority: 0, max_retries: 3 }).max_attempts; // 4
 */
export function nativeRequest(job: OpenQueueSubmit): SubmitJob {
  return {
    type: openQueueType,
    queue: job.queue_name,
    payload: job.payload,
    priority: job.priority,
    max_attempts: job.max_retries + 1,
    run_at: job.run_at ?? undefined,
    backoff,
  };
}
