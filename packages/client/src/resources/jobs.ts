import {
  type Attempt,
  type AttemptList,
  type BulkJobsAnswer,
  type BulkJobsInput,
  type EditJobInput,
  type Explanation,
  type ChangedJob,
  type Job,
  type JobDefinition,
  type JobOptions,
  type JobPage,
  type JobStatus,
  type JobSubmission,
  type JobWithParents,
  type Json,
  type ParentPage,
  type Tracing,
  type submitThrough,
  onlyQueue,
  inOperation,
} from "@atlasqueue/contract";
import { JobFinishedError } from "../errors.ts";
import { keyHeader, randomKey } from "../idempotency-key.ts";
import type { Ask } from "../http/ask.ts";
import { listPages } from "../http/list-pages.ts";
import { segment, type ActOptions, type CallOptions, type Send } from "../http/transport.ts";
import { createHandle, type Handle } from "../results/handle.ts";
import { createWaits } from "../results/waits.ts";
import { stepCalls } from "./steps.ts";
import { submitInParts, type Submitted } from "./submit-many.ts";

/**
 * The handle of a submitted job. `created` is false when the key was already used for the same job, even by an earlier
 * try of the same call; `job` is the job as it was then: all of it, or id and status when one of many. A token
 * without the scope `read` gets its id, status and times.
 */
export type SubmittedJob<Result = Json, Fields = ChangedJob> = Handle<Result> & { created: boolean; job: Fields };

export type ListFilter = {
  queue?: string;
  type?: string;
  status?: JobStatus;
  group?: string;
  tag?: string;
  /** Dead ones whose error has this fingerprint: see `deadLetters.groups`. */
  fingerprint?: string;
  /** RFC 3339, both ends included. */
  created_after?: string;
  created_before?: string;
  /** The running jobs of this worker. */
  worker?: string;
  /** The job this idempotency key names. */
  key?: string;
  /** A text in payload, result or error. Reading through a long history takes many requests: see `page`. */
  search?: string;
  /** Jobs in total. Default: all there are. */
  limit?: number;
  /** Jobs per request, 1 to 200. Default 50. */
  pageSize?: number;
};

/** Like `ListFilter`, with `limit` for the one page and the `next_cursor` of the page before it. */
export type PageFilter = Omit<ListFilter, "pageSize"> & { cursor?: string };

/** Besides what is listed here, a call may reject like any other: AuthError, RateLimitError, UnavailableError, … */
export type JobCalls = ReturnType<typeof jobCalls>;

type Ways = { waits_max: number; tracing: Tracing | undefined; through: ReturnType<typeof submitThrough> };

export function jobCalls(send: Send, ask: Ask, { waits_max, tracing, through }: Ways) {
  const get = async (id: string, call?: CallOptions, wait_seconds = 0): Promise<JobWithParents> => {
    const query = wait_seconds > 0 ? { wait_seconds } : {};
    const path = `/v1/jobs/${segment(id)}`;
    const answer = await send({ method: "GET", path, query, repeat: "always", hold_ms: wait_seconds * 1_000 }, call);
    return answer.body as JobWithParents;
  };

  const wait = createWaits(get, waits_max);
  const { signal } = stepCalls(ask);
  const handleOf = <Result, Fields extends { id: string }>(
    fields: Fields,
    parse: (result: Json) => Result | Promise<Result>,
  ) => createHandle(fields, { get, wait, signal, parse });

  const submitOne = (given: JobSubmission, call?: CallOptions) => through.one(given, (job) => submitNow(job, call));
  const submitNow = async (given: JobSubmission, call?: CallOptions) => {
    const { idempotency_key = randomKey(), ...request } = given;
    const headers = { "idempotency-key": keyHeader(idempotency_key) };
    const body = JSON.stringify(request);
    const { queue = "default", type } = request;
    const answer = await inOperation(
      tracing,
      "send",
      () => ({ queue, type }),
      () => send({ method: "POST", path: "/v1/jobs", headers, body, repeat: "always" }, call),
    );
    const job = answer.body as ChangedJob;
    return { id: job.id, created: answer.status === 201, job };
  };

  function submit(job: JobSubmission, call?: CallOptions): Promise<SubmittedJob>;
  function submit<Input, Result>(
    definition: JobDefinition<Input, unknown, Result>,
    payload: NoInfer<Input>,
    options?: JobOptions,
    call?: CallOptions,
  ): Promise<SubmittedJob<Result>>;
  async function submit<Input, Result>(
    first: JobSubmission | JobDefinition<Input, unknown, Result>,
    second?: Input | CallOptions,
    options?: JobOptions,
    call?: CallOptions,
  ): Promise<SubmittedJob<Result>> {
    if (!isDefinition(first)) return handleOf(await submitOne(first, second as CallOptions), asItIs<Result>);
    await first.parse(second);
    return handleOf(await submitOne(first.submission(second as Input, options), call), first.parseResult);
  }
  function handle(id: string): Handle;
  function handle<Result>(id: string, definition?: JobDefinition<never, unknown, Result>): Handle<Result>;
  function handle<Result>(id: string, definition?: JobDefinition<never, unknown, Result>) {
    return handleOf({ id }, definition?.parseResult ?? asItIs<Result>);
  }

  return {
    /**
     * Store a job; resolves when it is durable. Without an idempotency key one is generated, so that a repeated try makes
     * no second job; pass your own to be safe across a restart of your program. A payload that does not fit its
     * definition rejects with PayloadError before anything is sent. Rejects with ValidationError,
     * IdempotencyMismatchError, TooLargeError (payload 256 KiB).
     */
    submit,
    /**
     * Any number of jobs, with handles in the same order. Up to 1,000 jobs and 1 MiB go in one request, stored whole or
     * not at all; more go in parts, one after another, and when one fails those before it are stored: with your own keys
     * it is safe to call again. Rejects like `submit`; the ValidationError names every bad job of its part.
     */
    async submitMany(jobs: readonly JobSubmission[], call?: CallOptions): Promise<SubmittedJob<Json, Submitted>[]> {
      const queues = jobs.map(({ queue = "default" }) => ({ queue }));
      const submitted = await inOperation(
        tracing,
        "send",
        () => ({ queue: onlyQueue(queues), count: jobs.length }),
        () => through.many(jobs, (changed) => submitInParts(send, changed, call)),
      );
      return submitted.map((job) => handleOf({ id: job.id, created: job.created, job }, asItIs<Json>));
    },
    /** The handle of a job whose id you kept; given a definition, its result is what the definition makes of it. */
    handle,
    /** With the results of the jobs it waited for, if there are any. Rejects with NotFoundError. */
    get: (id: string, call?: CallOptions): Promise<JobWithParents> => get(id, call),
    /** A page of all the jobs it waits or waited for, with their results: go on with its `next_cursor`. NotFoundError. */
    parents: (id: string, query: { cursor?: string; limit?: number } = {}, call?: CallOptions): Promise<ParentPage> =>
      ask("GET", ["jobs", id, "parents"], call, { query }),
    /** Newest first, fetched a page at a time as they are read. Jobs submitted meanwhile are not included. */
    list: (filter?: ListFilter, call?: CallOptions) =>
      listPages(filter, (query) => ask<JobPage>("GET", ["jobs"], call, { query })),
    /** One page of the same list, for programs that turn its pages themselves. */
    page: (filter: PageFilter = {}, call?: CallOptions): Promise<JobPage> =>
      ask("GET", ["jobs"], call, { query: { ...filter } }),
    /**
     * The job when it is final: succeeded, dead or cancelled. Rejects with TimeoutError after `timeoutMs` (default a
     * minute; Infinity for no limit) and with NotFoundError; while the API is away it waits for it. However many jobs are
     * waited for, the client has at most `waitsMax` requests under way for that.
     */
    wait,
    /** End a job that is not final; if it is running, its handler is aborted. Rejects with JobFinishedError. */
    async cancel(id: string, call?: ActOptions): Promise<ChangedJob> {
      let repeated = false;
      const path = `/v1/jobs/${segment(id)}/cancel`;
      const onRepeat = () => (repeated = true);
      try {
        return (await send({ method: "POST", path, repeat: "always", onRepeat }, call)).body as ChangedJob;
      } catch (error) {
        // The first try's answer may have been lost, and this be its doing.
        if (!repeated || !(error instanceof JobFinishedError)) throw error;
        const job = await get(id, call);
        if (job.status === "cancelled") return job;
        throw error;
      }
    },
    /** Queue a dead, cancelled or failed job again, now and with all its attempts. Rejects with NotRetryableError. */
    // Not after a lost answer: by then the job may have run and died again, and that would be a second retry.
    retry: (id: string, call?: ActOptions): Promise<ChangedJob> =>
      ask("POST", ["jobs", id, "retry"], call, { repeat: "undone" }),
    /**
     * Like `retry`, with another payload: `patch` is a JSON merge patch (null removes a field), `payload` the whole of it,
     * in which null stays. Give one of them.
     */
    editAndRetry: (id: string, body: EditJobInput, call?: CallOptions): Promise<Job> =>
      ask("POST", ["jobs", id, "edit"], call, { body, repeat: "undone" }),
    /** Delete a finished job, with its attempts. Rejects with ConflictError for one that is not, and NotFoundError. */
    // Sent again after taking effect, the answer would be that there is no such job.
    delete: async (id: string, call?: CallOptions): Promise<void> =>
      void (await ask("DELETE", ["jobs", id], call, { repeat: "undone" })),
    /**
     * Cancel, retry or delete all jobs that match. A call goes on for some seconds: go on with its `next_cursor` until
     * that is null; the sum of `changed` is how far it came. With `dry_run` it only counts; its
     * `first_cursor` is where to begin so that nothing made since is changed.
     */
    bulk: (body: BulkJobsInput, call?: CallOptions): Promise<BulkJobsAnswer> =>
      ask("POST", ["jobs", "bulk"], call, { body, repeat: body.dry_run ? "always" : "undone" }),
    /** Every attempt of a job, how it ended and why. Rejects with NotFoundError. */
    attempts: async (id: string, call?: CallOptions): Promise<Attempt[]> =>
      (await ask<AttemptList>("GET", ["jobs", id, "attempts"], call)).items,
    /** Why a job is not running now. Rejects with NotFoundError. */
    explain: (id: string, call?: CallOptions): Promise<Explanation> => ask("GET", ["jobs", id, "explain"], call),
  };
}

/** A result without a schema. */
const asItIs = <Result>(result: Json): Result => result as Result;

/** Distinguished by the method: a submission made from someone's JSON may have a field of that name. */
function isDefinition<Input, Result>(
  given: JobSubmission | JobDefinition<Input, unknown, Result>,
): given is JobDefinition<Input, unknown, Result> {
  return "parse" in given && typeof given.parse === "function";
}
