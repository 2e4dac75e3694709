import {
  isFinal,
  limits,
  type Attempt,
  type AttemptList,
  type Explanation,
  type Job,
  type JobDefinition,
  type JobOptions,
  type JobPage,
  type JobStatus,
  type JobSubmission,
} from "@atlasqueue/contract";
import { JobFinishedError, TimeoutError } from "./errors.ts";
import { keyHeader, randomKey } from "./idempotency-key.ts";
import { pause, within } from "./http/time.ts";
import { segment, type CallOptions, type Send } from "./http/transport.ts";
import { submitInParts, type Submitted } from "./submit-many.ts";

/** `created` is false when the key was used for the same job before, an earlier try of the same call included. */
export type SubmittedJob = Job & { created: boolean };

export type ListFilter = {
  queue?: string;
  type?: string;
  status?: JobStatus;
  group?: string;
  /** Jobs in all. Default: every one there is. */
  limit?: number;
  /** Jobs a request, 1 to 200. Default 50. */
  pageSize?: number;
};

/** Beside what is named here, a call rejects as every call may: AuthError, RateLimitError, UnavailableError, … */
export type JobCalls = {
  /**
   * Store a job; resolves when it is durable. Without an idempotency key one is made, so that a repeated try makes no
   * second job; give your own to be safe across a restart of your program. A payload that does not fit a definition
   * rejects with PayloadError before anything is sent. Rejects with ValidationError, IdempotencyMismatchError,
   * TooLargeError (payload 256 KiB).
   */
  submit(job: JobSubmission, call?: CallOptions): Promise<SubmittedJob>;
  submit<Input>(
    definition: JobDefinition<Input>,
    payload: NoInfer<Input>,
    options?: JobOptions,
    call?: CallOptions,
  ): Promise<SubmittedJob>;
  /**
   * Any number of jobs, answers in their order. Up to 1,000 jobs and 1 MiB go in one request, all of it stored or none;
   * more go in parts, one after the other, and when one fails those before it are stored: with keys of your own it is
   * safe to call again. Rejects as `submit`, the ValidationError naming every bad job of its part.
   */
  submitMany(jobs: readonly JobSubmission[], call?: CallOptions): Promise<Submitted[]>;
  /** Rejects with NotFoundError. */
  get(id: string, call?: CallOptions): Promise<Job>;
  /** Newest first, a page at a time as they are read. Jobs that come meanwhile are not among them. */
  list(filter?: ListFilter, call?: CallOptions): AsyncGenerator<Job, void, undefined>;
  /**
   * The job when it is final: succeeded, dead or cancelled. Rejects with TimeoutError after `timeoutMs` (default a
   * minute; Infinity for ever) and with NotFoundError; an API that is away meanwhile is waited for.
   */
  wait(id: string, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<Job>;
  /** End a job that is not final; the handler of a running one is aborted. Rejects with JobFinishedError. */
  cancel(id: string, call?: CallOptions): Promise<Job>;
  /** Queue a dead, cancelled or failed job again, now and with all its attempts. Rejects with NotRetryableError. */
  retry(id: string, call?: CallOptions): Promise<Job>;
  /** Every run of a job, what became of it and why. Rejects with NotFoundError. */
  attempts(id: string, call?: CallOptions): Promise<Attempt[]>;
  /** Why a job is not running now. Rejects with NotFoundError. */
  explain(id: string, call?: CallOptions): Promise<Explanation>;
};

const page_jobs_default = 50;
/** Of one request that waits on the server: shorter than what proxies and load balancers cut. */
const hold_seconds_max = 20;
const poll_ms = 250;
/** For the answer that says what the job was at the end of a wait. */
const last_word_ms_max = 1_000;

export function jobCalls(send: Send): JobCalls {
  const get = async (id: string, call?: CallOptions, wait_seconds = 0): Promise<Job> => {
    const query = wait_seconds > 0 ? { wait_seconds } : {};
    const path = `/v1/jobs/${segment(id)}`;
    const answer = await send({ method: "GET", path, query, repeat: "always", hold_ms: wait_seconds * 1_000 }, call);
    return answer.body as Job;
  };

  const submit = async (given: JobSubmission, call?: CallOptions): Promise<SubmittedJob> => {
    const { idempotency_key = randomKey(), ...job } = given;
    const headers = { "idempotency-key": keyHeader(idempotency_key) };
    const body = JSON.stringify(job);
    const answer = await send({ method: "POST", path: "/v1/jobs", headers, body, repeat: "always" }, call);
    return { ...(answer.body as Job), created: answer.status === 201 };
  };

  const post = async (id: string, verb: string, repeat: "always" | "undone", call?: CallOptions, told?: () => void) => {
    const path = `/v1/jobs/${segment(id)}/${verb}`;
    const answer = await send({ method: "POST", path, repeat, ...(told ? { onRepeat: told } : {}) }, call);
    return answer.body as Job;
  };

  return {
    async submit<Input>(
      first: JobSubmission | JobDefinition<Input>,
      second?: Input | CallOptions,
      options?: JobOptions,
      call?: CallOptions,
    ) {
      if (!("parse" in first)) return submit(first, second as CallOptions | undefined);
      await first.parse(second);
      return submit(first.submission(second as Input, options), call);
    },
    submitMany: (jobs, call) => submitInParts(send, jobs, call),
    get: (id, call) => get(id, call),
    async *list({ limit = Infinity, pageSize = page_jobs_default, ...filter } = {}, call) {
      let cursor: string | null | undefined;
      for (let left = limit; left > 0 && cursor !== null;) {
        const query = { ...filter, limit: Math.min(left, pageSize), cursor };
        const answer = await send({ method: "GET", path: "/v1/jobs", query, repeat: "always" }, call);
        // A page may be short, or empty, and have another after it: only the cursor says where the end is.
        const page = answer.body as JobPage;
        for (const job of page.items.slice(0, left)) yield job;
        left -= page.items.length;
        cursor = page.next_cursor;
      }
    },
    wait: (id, { timeoutMs = 60_000, signal } = {}) =>
      within(
        timeoutMs + last_word_ms_max,
        signal,
        (ending) => waitUntilFinal(get, id, timeoutMs, ending),
        () => new TimeoutError(`job ${id}: no answer within ${timeoutMs} ms`),
      ),
    async cancel(id, call) {
      let repeated = false;
      try {
        return await post(id, "cancel", "always", call, () => (repeated = true));
      } catch (error) {
        // The answer to the first try may have been lost on the way, and this be its own work.
        if (!repeated || !(error instanceof JobFinishedError)) throw error;
        const job = await get(id, call);
        if (job.status === "cancelled") return job;
        throw error;
      }
    },
    // Not after a lost answer: by then the job may have run and died again, which is another retry.
    retry: (id, call) => post(id, "retry", "undone", call),
    async attempts(id, call) {
      const path = `/v1/jobs/${segment(id)}/attempts`;
      return ((await send({ method: "GET", path, repeat: "always" }, call)).body as AttemptList).items;
    },
    async explain(id, call) {
      const path = `/v1/jobs/${segment(id)}/explain`;
      return (await send({ method: "GET", path, repeat: "always" }, call)).body as Explanation;
    },
  };
}

async function waitUntilFinal(
  get: (id: string, call: CallOptions, wait_seconds: number) => Promise<Job>,
  id: string,
  timeout_ms: number,
  signal: AbortSignal,
): Promise<Job> {
  const deadline = performance.now() + timeout_ms;
  for (;;) {
    const asked = performance.now();
    const left_ms = Math.max(deadline - asked, 0);
    const hold_seconds = Math.min(hold_seconds_max, limits.wait_seconds_max, Math.floor(left_ms / 1_000));
    const job = await get(id, { retries: Infinity, retryMaxMs: left_ms, signal }, hold_seconds);
    if (isFinal(job.status)) return job;
    const now = performance.now();
    if (now >= deadline)
      throw new TimeoutError(`job ${id} was ${job.status} after ${timeout_ms} ms, and is left as it is`);
    // A server that answers early, as one that stops does, must not be asked again at once.
    const early = hold_seconds === 0 || now - asked < hold_seconds * 1_000 - poll_ms;
    if (early) await pause(Math.min(poll_ms, deadline - now), signal);
    signal.throwIfAborted();
  }
}
