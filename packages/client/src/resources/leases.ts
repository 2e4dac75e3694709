import {
  errorData,
  errorText,
  limits,
  storableResult,
  storableText,
  type HeartbeatAnswer,
  type Job,
  type Json,
  type LeaseAnswer,
  type SettleAnswer,
  type SettleRequestInput,
  type SpawnedJobInput,
} from "@atlasqueue/contract";
import { createLostLeases, releaseLease } from "./lost-leases.ts";
import { segment, type CallOptions, type Send } from "../http/transport.ts";

/** A job that is yours until `locked_until`, which a heartbeat extends. */
export type LeasedJob = LeaseAnswer["jobs"][number];
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
  ack(held: Held, result?: Json, call?: AckOptions): Promise<Job>;
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
  ): Promise<Job>;
  /** You will not finish it: the job is ready again, in its old place, and no attempt is spent. LeaseLostError. */
  release(held: Held, call?: CallOptions): Promise<Job>;
  /**
   * Everything leased under a token is ready again, with no attempt spent; resolves with how many jobs went back now.
   * The second time it changes nothing.
   */
  releaseLease(leaseToken: string, call?: CallOptions): Promise<number>;
  /** Resolves when what lost answers had leased has gone back, or its leases have ended: for a process that ends. */
  leasesReturned(): Promise<void>;
  /** Hold the job for `leaseSeconds` (default 30) from now, and report its progress. LeaseLostError. */
  heartbeat(
    held: Held,
    options?: { leaseSeconds?: number; progress?: Json },
    call?: CallOptions,
  ): Promise<HeartbeatAnswer>;
  /** Acks, nacks and releases of up to 1,000 jobs at once; one outcome for each, in their order. A lost lease is an outcome. */
  settle(request: SettleRequestInput, call?: CallOptions): Promise<SettleAnswer>;
};

export function leaseCalls(send: Send): LeaseCalls {
  const lost = createLostLeases(send);
  // All but `lease` are fenced by the token: the second time they change nothing.
  const post = async (path: string, fields: object, call: CallOptions | undefined): Promise<unknown> =>
    (await send({ method: "POST", path, body: JSON.stringify(fields), repeat: "always" }, call)).body;
  const path = ({ job }: Held, verb: string) => `/v1/jobs/${segment(job.id)}/${verb}`;

  return {
    async lease(queue, { workerId, leaseSeconds, maxJobs, waitSeconds = 0 }, call) {
      call?.signal?.throwIfAborted();
      const fields = { worker_id: workerId, lease_seconds: leaseSeconds, max_jobs: maxJobs, wait_seconds: waitSeconds };
      const hold_ms = waitSeconds * 1_000;
      const to = { method: "POST", path: `/v1/queues/${segment(queue)}/lease`, repeat: "undone", hold_ms } as const;
      return lost.leased(hold_ms + lastsMs(leaseSeconds), async (lease_token) => {
        const { body } = await send({ ...to, body: JSON.stringify({ ...fields, lease_token }) }, call);
        return (body as LeaseAnswer).jobs;
      });
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
      return (await post(path(held, "ack"), fields, call)) as Job;
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
      return (await post(path(held, "nack"), fields, call)) as Job;
    },
    release: async (held, call) => (await post(path(held, "release"), { lease_token: held.lease_token }, call)) as Job,
    async heartbeat(held, { leaseSeconds, progress } = {}, call) {
      const fields = { lease_token: held.lease_token, lease_seconds: leaseSeconds, progress };
      return (await post(path(held, "heartbeat"), fields, call)) as HeartbeatAnswer;
    },
    async settle(request, call) {
      const { next } = request;
      if (!next) return (await post(settlePath, request, call)) as SettleAnswer;
      const lasts_ms = lastsMs(next.lease_seconds);
      return lost.leased(lasts_ms, async (lease_token) => {
        let tries = 1;
        const body = JSON.stringify({ ...request, next: { lease_token, ...next } });
        const to = { method: "POST", path: settlePath, body, repeat: "always", onRepeat: () => (tries += 1) } as const;
        const answer = (await send(to, call)).body as SettleAnswer;
        // An earlier try may have leased, and a repeated one leases nothing again.
        if (lease_token !== undefined && tries > 1 && answer.next?.length === 0) lost.giveBack(lease_token, lasts_ms);
        return answer;
      });
    },
    releaseLease: (lease_token, call) => releaseLease(send, lease_token, call),
    leasesReturned: lost.returned,
  };
}

const settlePath = "/v1/leases/settle";
const lastsMs = (lease_seconds: number = limits.lease_seconds_default) => lease_seconds * 1_000;

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
