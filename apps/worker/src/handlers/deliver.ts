import { DoNotRetryError, RetryAfterError, type JobContext } from "@atlasqueue/worker";
import { postJson, type PostAnswer, type PostOptions } from "./post-json.ts";
import { signatureHeaders } from "./signing.ts";

const retry_after_seconds_max = 86_400;

type Delivery = Pick<PostOptions, "lookup" | "timeout_ms"> & {
  body: unknown;
  headers?: Record<string, string>;
  /** Of the secret that signs it. Empty: it is not signed. */
  keys: readonly Buffer[];
};

/**
 * POST a job's body as JSON, with the job's id as its key. Resolves after a 2xx. Throws a RetryAfterError for a response with
 * Retry-After, a DoNotRetryError for 410, and an Error for any other status.
 *
 * @example
 * return await deliver(new URL(url), context, { body, keys: [], lookup, timeout_ms: 10_000 });
 */
export async function deliver(
  url: URL,
  { job, signal }: Pick<JobContext, "job" | "signal">,
  { body, headers, keys, ...options }: Delivery,
): Promise<{ status: number }> {
  const text = JSON.stringify(body);
  const answer = await postJson(url, text, {
    headers: {
      ...headers,
      "idempotency-key": job.id,
      "x-atlasqueue-job-id": job.id,
      "x-atlasqueue-attempt": String(job.attempt),
      ...signatureHeaders(keys, { id: job.id, text, now_ms: Date.now() }),
    },
    ...options,
    signal,
  });
  if (answer.status >= 200 && answer.status < 300) return { status: answer.status };
  throw failureOf(answer);
}

function failureOf({ status, retry_after }: PostAnswer): Error {
  const message = `the receiver answered ${status}`;
  if (status === 410) return new DoNotRetryError(`${message} (gone)`);
  const delay_ms = retryAfterMs(retry_after, Date.now());
  return delay_ms === undefined ? new Error(message) : new RetryAfterError(message, delay_ms);
}

/** Milliseconds a Retry-After header asks for: seconds or an HTTP date (RFC 9110 §10.2.3); at most a day. */
export function retryAfterMs(header: string | undefined, now_ms: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now_ms;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), retry_after_seconds_max * 1_000) : undefined;
}
