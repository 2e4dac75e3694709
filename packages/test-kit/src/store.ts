import { isDeepStrictEqual } from "node:util";
import { isFinal, type Job, type Json, type OnParentFailure, type SubmitJob } from "@atlasqueue/contract";
import { IdempotencyMismatchError, UniqueConflictError, type Submitted } from "@atlasqueue/core";
import { newId } from "@atlasqueue/core/internal/http";
import type { TestClock } from "./clock.ts";

/** A job as the API shows it, with its key and the lines that its handler logged with `log`. */
export type TestJob = Job & { idempotency_key: string | null; log: string[] };

/** A job and what its status does not show. */
export type Kept = {
  job: TestJob;
  request: SubmitJob;
  /** What its key stands for besides the request, if it is that of a whole flow. */
  fingerprint?: string | undefined;
  parents: readonly { ref: string; id: string }[];
  on_parent_failure: OnParentFailure;
  steps: Map<string, Json>;
  signals: Map<string, Json>;
  /** When the time of each wait is over, in ms. */
  waits: Map<string, number>;
};

export type Insert = Partial<Pick<Kept, "parents" | "on_parent_failure" | "fingerprint">> & {
  request: SubmitJob;
  /** Chosen before, so that other jobs can name it. */
  id?: string;
  idempotency_key?: string | undefined;
  flow_id?: string | null;
};

const key_ttl_ms = 86_400_000;

export type Store = ReturnType<typeof createStore>;

/** Jobs in memory: what is stored, and which may run now. */
export function createStore(clock: TestClock, defaults: Readonly<Record<string, Partial<SubmitJob>>>) {
  const kept = new Map<string, Kept>();
  const keys = new Map<string, Kept>();
  const uniques = new Map<string, Kept>();
  /** Of each group those that may still run, in order. */
  const groups = new Map<string, Kept[]>();

  const parentsOf = ({ parents }: Kept) => parents.map(({ id }) => kept.get(id)?.job.status ?? "succeeded");

  /** Whether another job has to end, or do better, before this one may run. */
  function isBlocked(one: Kept): boolean {
    const waits = parentsOf(one).some(
      (status) => !isFinal(status) || (one.on_parent_failure === "wait" && status !== "succeeded"),
    );
    if (waits) return true;
    const group = groups.get(groupOf(one)) ?? [];
    while (group[0] && isFinal(group[0].job.status)) group.shift();
    return group.length > 0 && group[0] !== one;
  }

  /** Brings its status up to date. Whether that ended it. */
  function refreshOne(one: Kept): boolean {
    const { job } = one;
    if (isFinal(job.status) || job.status === "running") return false;
    const failed = parentsOf(one).some((status) => status === "dead" || status === "cancelled");
    if (failed && one.on_parent_failure === "cancel") {
      end(one, "cancelled", "a job that it waits for failed");
      return true;
    }
    const is_over = (time: string) => Date.parse(time) <= clock.now().getTime();
    if (job.expires_at !== null && is_over(job.expires_at)) {
      end(one, "cancelled", "expired");
      return true;
    }
    if (isBlocked(one)) job.status = "blocked";
    else if (is_over(job.run_at)) job.status = "queued";
    else job.status = job.last_error !== null && job.waits_for === null ? "failed" : "scheduled";
    return false;
  }

  function end(one: Kept, status: "succeeded" | "dead" | "cancelled", error?: string): void {
    const at = clock.now().toISOString();
    Object.assign(one.job, { status, finished_at: at, updated_at: at, waits_for: null, expires_at: null });
    if (error !== undefined) one.job.last_error = error;
  }

  /** What a new request has to share with an earlier one: its job, if it gets no job of its own. */
  function earlier({ request, idempotency_key, fingerprint }: Insert): Kept | undefined {
    const by_key = idempotency_key === undefined ? undefined : keys.get(idempotency_key);
    if (by_key && Date.parse(by_key.job.created_at) + key_ttl_ms > clock.now().getTime()) {
      if (!isDeepStrictEqual([by_key.request, by_key.fingerprint], [request, fingerprint]))
        throw new IdempotencyMismatchError(idempotency_key);
      return by_key;
    }
    const { unique } = request;
    const holder = unique && uniques.get(uniqueOf(request));
    if (!unique || !holder) return undefined;
    const until_ms = Date.parse(holder.job.created_at) + (unique.window_seconds ?? 0) * 1_000;
    const is_over = unique.scope === "active" ? isFinal(holder.job.status) : until_ms <= clock.now().getTime();
    if (is_over) return undefined;
    if (unique.on_conflict === "reject") throw new UniqueConflictError(holder.job.id);
    if (unique.on_conflict === "return") return holder;
    if (isFinal(holder.job.status) || holder.job.status === "running") return undefined;
    holder.request = request;
    Object.assign(holder.job, shown(request, clock.now()), { attempts: 0, last_error: null });
    return holder;
  }

  return {
    end,
    get: (id: string) => kept.get(id),
    /** Throws as a submission does. */
    insert(given: Insert): Submitted {
      const asked = { ...given, request: { ...defaults[given.request.queue], ...given.request } };
      const { request, fingerprint, idempotency_key = null, flow_id = null } = asked;
      const before = earlier(asked);
      if (before) {
        refreshOne(before);
        return { id: before.job.id, status: before.job.status, created: false };
      }
      const id = asked.id ?? newId();
      const job: TestJob = { ...newJob(id, request, clock.now()), idempotency_key, flow_id, log: [] };
      const { parents = [], on_parent_failure = "cancel" } = asked;
      const states = { steps: new Map(), signals: new Map(), waits: new Map() };
      const one: Kept = { job, request, fingerprint, parents, on_parent_failure, ...states };
      kept.set(id, one);
      if (idempotency_key !== null) keys.set(idempotency_key, one);
      if (request.unique) uniques.set(uniqueOf(request), one);
      if (request.group !== undefined) groups.set(groupOf(one), [...(groups.get(groupOf(one)) ?? []), one]);
      refreshOne(one);
      return { id, status: job.status, created: true };
    },
    /** Every job, in the order in which they were submitted. */
    all(): Kept[] {
      // The end of one may change those that wait for it, which may come before it.
      while ([...kept.values()].filter(refreshOne).length > 0);
      return [...kept.values()];
    },
  };
}

const groupOf = ({ job: { queue, group } }: Kept) => JSON.stringify([queue, group]);

const uniqueOf = ({ queue, unique, type, payload }: SubmitJob) =>
  JSON.stringify([queue, unique?.key ?? [type, Object.entries(payload).toSorted()]]);

/** The fields of a job that its request decides. */
function shown(request: SubmitJob, now: Date) {
  const { type, queue, priority, max_attempts = 5, timeout_seconds = null, group = null, delay_seconds = 0 } = request;
  const { retention_seconds = null, result_ttl_seconds = null, expires_in, tags = null } = request;
  const after = (seconds: number) => new Date(now.getTime() + seconds * 1_000).toISOString();
  const run_at = request.run_at ?? after(delay_seconds);
  const expires_at = expires_in === undefined ? null : after(expires_in);
  const kept = { timeout_seconds, retention_seconds, result_ttl_seconds, expires_at };
  const payload = structuredClone(request.payload);
  return { type, queue, priority, max_attempts, run_at, group, tags, ...kept, payload };
}

function newJob(id: string, request: SubmitJob, now: Date): Job {
  const made_at = now.toISOString();
  const times = { created_at: made_at, updated_at: made_at, started_at: null, finished_at: null };
  const unset = { result: null, last_error: null, worker_id: null, locked_until: null, progress: null };
  const more = { dead_reason: null, waits_for: null, traceparent: null, tracestate: null, flow_id: null };
  return { id, status: "queued", attempts: 0, ...shown(request, now), ...times, ...unset, ...more };
}
