import {
  errorData,
  errorText,
  limits,
  storableResult,
  storableText,
  type HeartbeatAnswer,
  type ChangedJob,
  type Json,
  type LeaseAnswer,
  type ReleaseLeaseAnswer,
  type SettleAnswer,
  type SettleRequestInput,
  type SpawnedJobInput,
} from "@atlasqueue/contract";
import { isWordOfApi } from "../errors.ts";
import { segment, type Call, type CallOptions, type Send } from "../http/transport.ts";
import { randomToken } from "../idempotency-key.ts";

/** A job that is yours until `locked_until`, which a heartbeat extends. */
export type LeasedJob = LeaseAnswer["jobs"][number] & {
  /**
   * Until when it is yours for certain, however late the answer came and whatever time it is here, on the clock of
   * `performance.now()`. With less than half of the lease left, send a heartbeat before you begin; it holds the job for
   * its `leaseSeconds` from when you call it.
   */
  readonly ends_at_ms: number;
};
/** What became of each; the jobs in `next` are yours. */
type Settled = Pick<SettleAnswer, "acks" | "nacks" | "releases"> & { next?: LeasedJob[] };
/** What proves that a job is yours: a LeasedJob, or these two fields of it. */
export type Held = { job: { id: string }; lease_token: string };

export type LeaseOptions = {
  /** Shows people which worker holds the job. */
  workerId: string;
  /** 1 to 3,600. Default 30. */
  leaseSeconds?: number;
  /** 1 to 100. Default 1. */
  maxJobs?: number;
  /** How long to wait for the first job, 0 to 30, and at most a third of the lease. Default 0. */
  waitSeconds?: number;
  /** Only jobs of these types, 1 to 100. Default: all. */
  types?: readonly string[] | undefined;
  /**
   * A UUID for this request. Call `lease` again with the same one if it failed: it returns the jobs that are still leased.
   * Default: a fresh one, and a call that fails releases its jobs once.
   */
  leaseToken?: string;
};

export type AckOptions = CallOptions & {
  /** Jobs to be stored with the ack, both or neither: they join the job's flow, and it is their first parent. */
  children?: readonly SpawnedJobInput[] | undefined;
  /** The jobs that wait for this one wait for its children too. */
  dependantsWait?: boolean | undefined;
};

export type ReleaseOptions = CallOptions & {
  /** Offer the job again later, after 1 to 30 seconds: you have no handler for its type. Default false. */
  later?: boolean | undefined;
};

/**
 * Leasing by hand; `work` does all of this for you. Besides what is listed here, a call may reject like any other:
 * AuthError, ValidationError, RateLimitError, UnavailableError, …
 */
export type LeaseCalls = ReturnType<typeof leaseCalls>;

export function leaseCalls(send: Send) {
  // The second time, none of them changes anything.
  const post = async <Answer>(path: string, fields: object, call: CallOptions | undefined): Promise<Answer> =>
    (await send({ method: "POST", path, body: JSON.stringify(fields), repeat: "always" }, call)).body as Answer;
  /** A call about a job that is held. */
  const postOf = <Answer>({ job, lease_token }: Held, verb: string, fields: object, call: CallOptions | undefined) =>
    post<Answer>(`/v1/jobs/${segment(job.id)}/${verb}`, { lease_token, ...fields }, call);
  const releaseLease = async (lease_token: string, call?: CallOptions): Promise<number> =>
    (await post<ReleaseLeaseAnswer>("/v1/leases/release", { lease_token }, call)).released;
  /**
   * Sends a request that leases jobs, under the caller's token or a new one. `ends_at_ms`: when the leases end, counted
   * from the try that got a response.
   */
  const sendLeasing = async (
    to: Omit<Call, "body" | "method" | "repeat">,
    { token, own_token, lasts_ms }: { token: string; own_token: string | undefined; lasts_ms: number },
    fields: object,
    call: CallOptions | undefined,
  ) => {
    let asked_at = performance.now();
    const onRepeat = () => void (asked_at = performance.now());
    const asked: Call = { ...to, method: "POST", repeat: "always", body: JSON.stringify(fields), onRepeat };
    try {
      const { body } = await send({ ...asked, answer_ms_max: lasts_ms / 3 }, call);
      const { waited_ms = 0, remaining_ms = 0 } = body as Partial<LeaseAnswer>;
      // A clock that stood still while the machine slept is behind what the API has waited.
      return { body, ends_at_ms: Math.min(asked_at + waited_ms, performance.now()) + remaining_ms };
    } catch (error) {
      const is_refusal = isWordOfApi(error) && (error.status ?? 500) < 500;
      if (own_token === undefined && !is_refusal) void releaseLease(token, { retries: 0 }).catch(() => {});
      throw error;
    }
  };

  return {
    /**
     * Take jobs that are ready; none when none become ready in time. A try is given up after the wait and a third of the
     * lease, and repeated: it has the same jobs, so a lost response costs nothing. ConflictError if your `leaseToken` is
     * another request's.
     */
    async lease(queue: string, options: LeaseOptions, call?: CallOptions): Promise<LeasedJob[]> {
      call?.signal?.throwIfAborted();
      const { leaseToken, leaseSeconds: lease_seconds, waitSeconds = 0 } = options;
      const { workerId: worker_id, maxJobs: max_jobs, types } = options;
      const lease_token = leaseToken ?? randomToken();
      const lasts_ms = lastsMs(lease_seconds);
      // A try that gets no response must be repeated before what it leased has ended.
      const wait_seconds = Math.min(waitSeconds, lasts_ms / 3_000);
      const fields = { worker_id, lease_seconds, max_jobs, wait_seconds, lease_token, types };
      const to = { path: `/v1/queues/${segment(queue)}/lease`, hold_ms: wait_seconds * 1_000 };
      const about = { token: lease_token, own_token: leaseToken, lasts_ms };
      const { body, ends_at_ms } = await sendLeasing(to, about, fields, call);
      return (body as LeaseAnswer).jobs.map((leased) => ({ ...leased, ends_at_ms }));
    },
    /**
     * The job has succeeded; `result` is any JSON, at most 256 KiB. Throws a TypeError for what JSON would silently
     * change. Repeating the same ack is fine, and adds no jobs a second time. LeaseLostError.
     */
    async ack(held: Held, returned?: Json, options: AckOptions = {}): Promise<ChangedJob> {
      const { children, dependantsWait: dependants_wait, ...call } = options;
      const checked = storableResult(returned);
      if (checked.kind === "refused") throw new TypeError(reasonOf(checked.reason));
      return postOf(held, "ack", { result: checked.result, children, dependants_wait }, call);
    },
    /**
     * The attempt failed. `error` is stored as "Type: message" (a string as it is), up to 4,096 characters, and its
     * `data` (16 KiB of JSON) if it was the last attempt. The job is retried after its backoff, after `delaySeconds`, or
     * with `retry: false` never. LeaseLostError.
     */
    async nack(
      held: Held,
      thrown: unknown,
      options: { retry?: boolean | undefined; delaySeconds?: number | undefined; data?: Json | undefined } = {},
      call?: CallOptions,
    ): Promise<ChangedJob> {
      const { retry, delaySeconds: delay_seconds, data: error_data = errorData(thrown) } = options;
      const error = typeof thrown === "string" ? storableText(thrown) : errorText(thrown);
      return postOf(held, "nack", { error, retry, delay_seconds, error_data }, call);
    },
    /** You will not finish it: the job is ready again, in its old place, and no attempt is spent. LeaseLostError. */
    release: async (held: Held, { later, ...call }: ReleaseOptions = {}): Promise<ChangedJob> =>
      postOf(held, "release", { later }, call),
    /**
     * Everything leased under a token is ready again, with no attempt spent; resolves with how many jobs went back now.
     * The second time it changes nothing.
     */
    releaseLease,
    /** Hold the job for `leaseSeconds` (default 30) from now, and report its progress. LeaseLostError. */
    heartbeat: async (
      held: Held,
      { leaseSeconds: lease_seconds, progress }: { leaseSeconds?: number; progress?: Json } = {},
      call?: CallOptions,
    ): Promise<HeartbeatAnswer> => postOf(held, "heartbeat", { lease_seconds, progress }, call),
    /**
     * Acks, nacks and releases of up to 1,000 jobs at once; one outcome for each, in their order. A lost lease is an outcome.
     * With `next`, a try that got no response is repeated with the same `lease_token`, and has the same next jobs.
     */
    async settle(request: SettleRequestInput, call?: CallOptions): Promise<Settled> {
      const { next } = request;
      const path = "/v1/leases/settle";
      if (!next) return post(path, request, call);
      const { lease_token: own_token, lease_seconds } = next;
      const token = own_token ?? randomToken();
      const fields = { ...request, next: { ...next, lease_token: token } };
      const about = { token, own_token, lasts_ms: lastsMs(lease_seconds) };
      const { body, ends_at_ms } = await sendLeasing({ path }, about, fields, call);
      const { next: leased, waited_ms: _, remaining_ms: __, repeated: ___, ...outcomes } = body as SettleAnswer;
      return leased ? { ...outcomes, next: leased.map((one) => ({ ...one, ends_at_ms })) } : outcomes;
    },
  };
}

const lastsMs = (lease_seconds: number = limits.lease_seconds_default) => lease_seconds * 1_000;

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
