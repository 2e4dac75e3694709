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
  type SettleAnswer,
  type SettleRequestInput,
  type SpawnedJobInput,
} from "@atlasqueue/contract";
import { answerMsMax } from "./answer-deadline.ts";
import { releaseLease } from "./give-back.ts";
import type { Leasing, LostLeases } from "./lost-leases.ts";
import { segment, type Call, type CallOptions, type Send } from "../http/transport.ts";

/** A job that is yours until `locked_until`, which a heartbeat extends. */
export type LeasedJob = LeaseAnswer["jobs"][number] & {
  /**
   * Until when it is yours for certain, however late the answer came and whatever time it is here, on the clock of
   * `performance.now()`. Send a heartbeat before you begin where much of that is over; one holds the job for its
   * `leaseSeconds` from when you call it.
   */
  readonly ends_at_ms: number;
};
/** What became of each; the jobs in `next` are yours. */
type Settled = Omit<SettleAnswer, "next"> & { next?: LeasedJob[] };
/** What proves that a job is yours: a LeasedJob, or these two fields of it. */
export type Held = { job: { id: string }; lease_token: string };

export type LeaseOptions = {
  /** Shows people which worker holds the job. */
  workerId: string;
  /** 1 to 3,600. Default 30. */
  leaseSeconds?: number;
  /** 1 to 100. Default 1. */
  maxJobs?: number;
  /** How long to wait for the first job, 0 to 30. Default 0. */
  waitSeconds?: number;
};

export type AckOptions = CallOptions & {
  /** Jobs to be stored with the ack, both or neither: they join the job's flow, and it is their first parent. */
  children?: readonly SpawnedJobInput[] | undefined;
  /** The jobs that wait for this one wait for its children too. */
  dependantsWait?: boolean | undefined;
};

/**
 * Leasing by hand; `work` does all of this for you. Besides what is listed here, a call may reject like any other:
 * AuthError, ValidationError, RateLimitError, UnavailableError, …
 */
export type LeaseCalls = {
  /**
   * Take jobs that are ready; none when none become ready in time. Not sent again when the answer is lost or `signal`
   * aborts: what it leased is given back then, with no attempt spent, as soon as the API can be reached. Rejects with
   * an UnavailableError while that is outstanding for ten calls.
   */
  lease(queue: string, options: LeaseOptions, call?: CallOptions): Promise<LeasedJob[]>;
  /**
   * The job has succeeded; `result` is any JSON, at most 256 KiB. Throws a TypeError for what JSON would silently
   * change. Repeating the same ack is fine, and adds no jobs a second time. LeaseLostError.
   */
  ack(held: Held, result?: Json, call?: AckOptions): Promise<ChangedJob>;
  /**
   * The attempt failed. `error` is stored as "Type: message" (a string as it is), up to 4,096 characters, and its
   * `data` (16 KiB of JSON) if it was the last attempt. The job is retried after its backoff, after `delaySeconds`, or
   * with `retry: false` never. LeaseLostError.
   */
  nack(
    held: Held,
    error: unknown,
    options?: { retry?: boolean | undefined; delaySeconds?: number | undefined; data?: Json | undefined },
    call?: CallOptions,
  ): Promise<ChangedJob>;
  /** You will not finish it: the job is ready again, in its old place, and no attempt is spent. LeaseLostError. */
  release(held: Held, call?: CallOptions): Promise<ChangedJob>;
  /**
   * Everything leased under a token is ready again, with no attempt spent; resolves with how many jobs went back now.
   * The second time it changes nothing.
   */
  releaseLease(leaseToken: string, call?: CallOptions): Promise<number>;
  /**
   * Resolves when what lost answers had leased has gone back, or a minute after its leases' end or the API's last word that
   * its database is away: for a process that ends. Workers wait for their own as they stop. The first abort in a minute
   * ends the tries under way.
   */
  leasesReturned(call?: Pick<CallOptions, "signal">): Promise<void>;
  /** Hold the job for `leaseSeconds` (default 30) from now, and report its progress. LeaseLostError. */
  heartbeat(
    held: Held,
    options?: { leaseSeconds?: number; progress?: Json },
    call?: CallOptions,
  ): Promise<HeartbeatAnswer>;
  /**
   * Acks, nacks and releases of up to 1,000 jobs at once; one outcome for each, in their order. A lost lease is an outcome.
   * What was leased for `next` goes back, as with `lease`, when no answer tells of it.
   */
  settle(request: SettleRequestInput, call?: CallOptions): Promise<Settled>;
};

export function leaseCalls(send: Send, lost: LostLeases): LeaseCalls {
  // All but `lease` are fenced by the token: the second time they change nothing.
  const post = async (path: string, fields: object, call: CallOptions | undefined): Promise<unknown> =>
    (await send({ method: "POST", path, body: JSON.stringify(fields), repeat: "always" }, call)).body;
  /** Sends what leases; `ends_at_ms`: when the leases end, reckoned from the try that was answered. */
  const sendLeasing = async (to: Call, lasts_ms: number, failed: (error: unknown) => void, call?: CallOptions) => {
    let asked_at = performance.now();
    const onRepeat = (error: unknown) => {
      failed(error);
      asked_at = performance.now();
    };
    const { body } = await send({ ...to, onRepeat, answer_ms_max: answerMsMax(lasts_ms) }, call);
    const { waited_ms = 0 } = body as LeaseAnswer;
    // A clock that stood still while the machine slept is behind what the API has waited.
    return { body, ends_at_ms: Math.min(asked_at + waited_ms, performance.now()) + lasts_ms };
  };
  const path = ({ job }: Held, verb: string) => `/v1/jobs/${segment(job.id)}/${verb}`;

  return {
    async lease(queue, { workerId, leaseSeconds, maxJobs, waitSeconds = 0 }, call) {
      call?.signal?.throwIfAborted();
      const fields = { worker_id: workerId, lease_seconds: leaseSeconds, max_jobs: maxJobs, wait_seconds: waitSeconds };
      const hold_ms = waitSeconds * 1_000;
      const to = { method: "POST", path: `/v1/queues/${segment(queue)}/lease`, repeat: "undone", hold_ms } as const;
      const lasts_ms = lastsMs(leaseSeconds);
      const ask: Leasing<LeasedJob[]> = async (lease_token, failed) => {
        const asked = { ...to, body: JSON.stringify({ ...fields, lease_token }) };
        const { body, ends_at_ms } = await sendLeasing(asked, lasts_ms, failed, call);
        return (body as LeaseAnswer).jobs.map((leased) => ({ ...leased, ends_at_ms }));
      };
      return lost.leased(ask, (jobs) => jobs, { lasts_ms: hold_ms + lasts_ms, signal: call?.signal });
    },
    async ack(held, result, { children, dependantsWait, ...call } = {}) {
      const checked = storableResult(result);
      if (checked.kind === "refused") throw new TypeError(reasonOf(checked.reason));
      const fields = {
        lease_token: held.lease_token,
        result: checked.result,
        children,
        dependants_wait: dependantsWait,
      };
      return (await post(path(held, "ack"), fields, call)) as ChangedJob;
    },
    async nack(held, error, { retry, delaySeconds, data = errorData(error) } = {}, call) {
      const text = typeof error === "string" ? storableText(error) : errorText(error);
      const fields = {
        lease_token: held.lease_token,
        error: text,
        retry,
        delay_seconds: delaySeconds,
        error_data: data,
      };
      return (await post(path(held, "nack"), fields, call)) as ChangedJob;
    },
    release: async (held, call) =>
      (await post(path(held, "release"), { lease_token: held.lease_token }, call)) as ChangedJob,
    async heartbeat(held, { leaseSeconds, progress } = {}, call) {
      const fields = { lease_token: held.lease_token, lease_seconds: leaseSeconds, progress };
      return (await post(path(held, "heartbeat"), fields, call)) as HeartbeatAnswer;
    },
    async settle(request, call) {
      const { next } = request;
      const settlePath = "/v1/leases/settle";
      if (!next) return (await post(settlePath, request, call)) as Settled;
      const lasts_ms = lastsMs(next.lease_seconds);
      const ask: Leasing<Settled> = async (lease_token, failed) => {
        const fields = { ...request, next: { lease_token, ...next } };
        const to = { method: "POST", path: settlePath, body: JSON.stringify(fields), repeat: "always" } as const;
        const { body, ends_at_ms } = await sendLeasing(to, lasts_ms, failed, call);
        const { next: leased, ...outcomes } = body as SettleAnswer;
        return leased ? { ...outcomes, next: leased.map((one) => ({ ...one, ends_at_ms })) } : outcomes;
      };
      const about = { lasts_ms, own_token: next.lease_token, signal: call?.signal };
      return lost.leased(ask, (answer) => answer.next ?? [], about);
    },
    releaseLease: (lease_token, call) => releaseLease(send, lease_token, call),
    leasesReturned: (call) => lost.returned(call?.signal),
  };
}

const lastsMs = (lease_seconds: number = limits.lease_seconds_default) => lease_seconds * 1_000;

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
