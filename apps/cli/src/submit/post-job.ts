import { z } from "zod";
import { setTimeout as sleep } from "node:timers/promises";
import { jobSummary, refusalReason, type JobSummary } from "./answers.ts";

export type Target = {
  /** Of the API, without /v1. */
  url: string;
  /** For an API with `AUTH=required`. */
  token?: string | undefined;
  /** How long an API that is away or busy is asked again, from the first failure on. */
  patience_ms: number;
};

export type Posted =
  | { kind: "created" | "existing"; job: JobSummary }
  | { kind: "refused"; reason: string }
  /** The patience ran out. Whether the job exists is unknown; the same key finds out. */
  | { kind: "gave_up"; reason: string };

type Tried = Posted | { kind: "later"; reason: string; retry_after_ms: number | undefined };

const request_ms_max = 30_000;
const pause_ms_min = 100;
const pause_ms_max = 5_000;
/** Answers that say nothing about the job itself: the same request may be taken later. */
const passing = new Set([408, 425, 429, 502, 503, 504]);

/**
 * POST one job. Network errors and answers that ask for patience are tried again with the same key, so that no number
 * of tries makes two jobs. Never rejects.
 *
 * @example
 * const posted = await postJob({ url: "http://127.0.0.1:8000", patience_ms: 60_000 }, "order-17", { type: "noop" });
 */
export async function postJob(target: Target, key: string, request: unknown): Promise<Posted> {
  const body = JSON.stringify(request);
  let deadline: number | undefined;
  for (let tries = 1; ; tries += 1) {
    const tried = await tryOnce(target, key, body);
    if (tried.kind !== "later") return tried;
    const now = performance.now();
    deadline ??= now + target.patience_ms;
    const pause_ms = tried.retry_after_ms ?? backoffMs(tries);
    if (now + pause_ms > deadline) return { kind: "gave_up", reason: tried.reason };
    await sleep(pause_ms);
  }
}

async function tryOnce({ url, token }: Target, key: string, body: string): Promise<Tried> {
  let response: Response;
  let text: string;
  // Not AbortSignal.timeout: each one is kept until its time is over, and a file makes thousands a second.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no answer in ${request_ms_max} ms`)), request_ms_max);
  try {
    response = await fetch(new URL("v1/jobs", folderOf(url)), {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key, ...authorization(token) },
      body,
      redirect: "manual",
      signal: late.signal,
    });
    text = await response.text();
  } catch (error) {
    return { kind: "later", reason: `${url} cannot be reached (${networkReason(error)})`, retry_after_ms: undefined };
  } finally {
    clearTimeout(timer);
  }
  if (passing.has(response.status)) {
    const retry_after_ms = retryAfterMs(response.headers.get("retry-after"), Date.now());
    return { kind: "later", reason: refusalReason(response.status, text), retry_after_ms };
  }
  if (response.status !== 200 && response.status !== 201)
    return { kind: "refused", reason: refusalReason(response.status, text) };
  const job = jobSummary.safeParse(parseJson(text));
  if (!job.success) return { kind: "refused", reason: `${url} answered ${response.status} with something not a job` };
  return { kind: response.status === 201 ? "created" : "existing", job: job.data };
}

export function authorization(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** `URL` would replace the last part of a path that has no slash at its end. */
export function folderOf(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** fetch says "fetch failed" and keeps the reason in its cause. */
export function networkReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, message } = cause as NodeJS.ErrnoException;
  return typeof code === "string" ? code : message || String(cause);
}

function backoffMs(tries: number): number {
  return Math.min(pause_ms_min * 2 ** (tries - 1), pause_ms_max) * (0.5 + Math.random() / 2);
}

/** Seconds or an HTTP date (RFC 9110 §10.2.3). */
function retryAfterMs(header: string | null, now_ms: number): number | undefined {
  if (header === null) return undefined;
  const seconds = z.coerce.number().min(0).safeParse(header.trim());
  if (seconds.success) return seconds.data * 1_000;
  const date_ms = Date.parse(header);
  return Number.isNaN(date_ms) ? undefined : Math.max(0, date_ms - now_ms);
}
