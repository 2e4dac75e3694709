import type { OnParentFailure } from "@atlasqueue/contract";
import { groupOf, isOver, joinGroup, takePlace, type Model, type ModelJob } from "./state.ts";

/** What a submission asks for. */
export type Asked = {
  queue: string;
  group: string | null;
  delay_seconds: number | null;
  priority: number;
  max_attempts: number;
  expires_in?: number;
  key: string | null;
  unique: { key: string; on_conflict: "return" | "reject" | "replace"; window_seconds: number | null } | null;
};
/** `depends_on` has places in the flow, or numbers of jobs that exist. */
export type AskedOfFlow = Asked & { places: number[]; jobs: number[]; policy: OnParentFailure };

/** What the answer to a submission must be. */
export type Answer = { kind: string; job?: number };

const ttl_ms = 60_000;

/** What makes two requests under one key the same. */
const asksOf = ({ key: _key, ...asked }: Asked) => JSON.stringify(asked);

/** A key that stands for a job, unless its time is over or its job gone. */
function liveKey(model: Model, key: string | null) {
  const known = key === null ? undefined : model.keys.get(key);
  return known && known.expires_at > model.now && model.jobs.has(known.job) ? known : undefined;
}

/** The job that a unique key stands for: until it has ended, or for its window, however soon it has ended. */
function holderOf(model: Model, name: string): ModelJob | undefined {
  const known = model.unique.get(name);
  const job = known && model.jobs.get(known.job);
  const is_over = known?.ends_at ? known.ends_at <= model.now : isOver(job);
  return is_over ? undefined : job;
}

export function submitOne(model: Model, asked: Asked): Answer {
  const { key, unique, queue, group } = asked;
  const known = liveKey(model, key);
  if (known) return known.asks === asksOf(asked) ? { kind: "replayed", job: known.job } : { kind: "mismatch" };
  // One that is spent is forgotten before it is used again, whatever becomes of the request.
  if (key !== null) model.keys.delete(key);
  const holds = unique ? holderOf(model, groupOf(queue, unique.key)) : undefined;
  if (!unique || !holds) return { kind: "created", job: make(model, asked) };
  const noted = (kind: string): Answer => {
    note(model, asked, holds.n, true);
    return { kind, job: holds.n };
  };
  switch (unique.on_conflict) {
    case "return":
      return noted("existing");
    case "reject":
      return { kind: "conflict", job: holds.n };
    default: {
      const waits = ["scheduled", "blocked", "queued", "failed"].includes(holds.status);
      if (!waits || holds.has_steps || holds.flow !== null || holds.has_children)
        return { kind: "created", job: make(model, asked) };
      if (holds.group !== group) return { kind: "conflict", job: holds.n };
      replace(model, holds, asked);
      return noted("replaced");
    }
  }
}

/** All of them, or none when a key stands for something else. */
export function submitAll(model: Model, all: readonly Asked[]): Answer[] | "mismatch" {
  for (const asked of all) {
    const known = liveKey(model, asked.key);
    if (known && known.asks !== asksOf(asked)) return "mismatch";
  }
  return all.map((asked) => submitOne(model, asked));
}

function note(model: Model, asked: Asked, job: number, noted: boolean): void {
  if (asked.key !== null)
    model.keys.set(asked.key, { job, asks: asksOf(asked), expires_at: model.now + ttl_ms, noted });
}

const startOf = (model: Model, { delay_seconds }: Asked) => model.now + (delay_seconds ?? 0) * 1_000;

const expiryOf = (model: Model, { expires_in }: Asked) =>
  expires_in === undefined ? null : model.now + expires_in * 1_000;

/** A new job's row, without its place. */
function newJob(model: Model, asked: Asked): ModelJob {
  const { queue, group, priority, max_attempts, key } = asked;
  const job: ModelJob = {
    n: model.next.job++,
    queue,
    group,
    priority,
    status: "blocked",
    attempts: 0,
    max_attempts,
    run_at: startOf(model, asked),
    ready_at: null,
    due_at: null,
    expires_at: expiryOf(model, asked),
    dead_at: null,
    finished_at: null,
    kept_until: key === null ? null : model.now + ttl_ms,
    group_seq: 0,
    active_group_key: false,
    token: null,
    locked_until: null,
    waits_for: null,
    has_steps: false,
    has_children: false,
    flow: null,
    cancelled_by_parent: false,
  };
  model.jobs.set(job.n, job);
  return job;
}

/** Give a blocked job its place, from `starts_at` on. */
function seat(model: Model, job: ModelJob, starts_at: number, join = joinGroup): void {
  const place = job.group === null ? undefined : join(model, { ...job, group: job.group });
  if (place && !place.may_run) {
    job.group_seq = place.seq;
    return;
  }
  job.group_seq = null;
  job.active_group_key = place?.active_group_key ?? false;
  job.status = starts_at > model.now ? "scheduled" : "queued";
  job.ready_at = job.status === "queued" ? starts_at : null;
  job.due_at = job.status === "scheduled" ? starts_at : null;
}

function make(model: Model, asked: Asked): number {
  const job = newJob(model, asked);
  if (asked.unique) {
    const { key, window_seconds } = asked.unique;
    const ends_at = window_seconds === null ? null : model.now + window_seconds * 1_000;
    model.unique.set(groupOf(asked.queue, key), { job: job.n, ends_at });
  }
  note(model, asked, job.n, false);
  seat(model, job, job.run_at);
  return job.n;
}

function replace(model: Model, job: ModelJob, asked: Asked): void {
  const starts_at = startOf(model, asked);
  const later = starts_at > model.now;
  job.priority = asked.priority;
  job.max_attempts = asked.max_attempts;
  job.run_at = starts_at;
  job.expires_at = expiryOf(model, asked);
  job.attempts = 0;
  job.token = null;
  if (job.status === "blocked") return;
  job.status = later ? "scheduled" : "queued";
  job.ready_at = later ? null : (job.ready_at ?? model.now);
  job.due_at = later ? starts_at : null;
}

/** Jobs of which some wait for others, or for jobs that exist. Returns their numbers. */
export function submitFlow(model: Model, all: readonly AskedOfFlow[], flow = model.next.flow++): number[] {
  const made = all.map((asked) => newJob(model, asked));
  all.forEach(({ places, jobs, policy }, at) => {
    const child = made[at] as ModelJob;
    child.flow = flow;
    const earlier = jobs.flatMap((n) => model.jobs.get(n) ?? []);
    for (const parent of [...places.map((place) => made[place] as ModelJob), ...earlier]) {
      parent.has_children = true;
      const failed = ["dead", "cancelled"].includes(parent.status);
      if (parent.status === "succeeded" || (failed && policy === "run")) continue;
      model.edges.push({ parent: parent.n, child: child.n, policy, failed: failed && policy === "cancel" });
    }
    const waits_for = model.edges.filter((edge) => edge.child === child.n);
    if (places.length + jobs.length > 0 && (waits_for.length === 0 || waits_for.some(({ failed }) => failed)))
      model.notes.child.add(child.n);
    if (places.length + jobs.length === 0) seat(model, child, child.run_at);
  });
  return made.map(({ n }) => n);
}

/** Inside a caller's transaction: what asks for a key or a group is admitted later. */
export function submitInside(model: Model, asked: Asked): Answer {
  const known = liveKey(model, asked.key);
  const asks = asksOf(asked);
  const pending = model.admissions.find(({ key, job }) => key !== null && key === asked.key && model.jobs.has(job));
  const answer = pending ?? known;
  if (answer) return answer.asks === asks ? { kind: "replayed", job: answer.job } : { kind: "mismatch" };
  const job = newJob(model, asked);
  job.kept_until = null;
  const { queue, group, key } = asked;
  if (group === null && key === null) seat(model, job, job.run_at);
  else model.admissions.push({ job: job.n, lane: group === null ? `key ${key}` : groupOf(queue, group), key, asks });
  return { kind: "created", job: job.n };
}

/** Pending jobs get their keys and their places, page by page; a key's second job ends. */
export function admitAll(model: Model): void {
  while (model.admissions.length > 0) {
    const lanes = new Set<string>();
    const keys = new Set<string>();
    const left: Model["admissions"] = [];
    for (const admission of model.admissions) {
      const { lane, key, job } = admission;
      const waits = lanes.has(lane) || (key !== null && model.jobs.has(job) && keys.has(key));
      if (waits) {
        lanes.add(lane);
        left.push(admission);
      } else {
        if (key !== null && model.jobs.has(job)) keys.add(key);
        admit(model, admission);
      }
    }
    model.admissions = left;
  }
}

function admit(model: Model, { job: n, key, asks }: Model["admissions"][number]): void {
  const job = model.jobs.get(n);
  if (!job) return;
  const known = liveKey(model, key);
  const pending = job.group_seq === 0;
  if (pending && known) {
    Object.assign(job, { status: "cancelled", group_seq: null, expires_at: null, finished_at: model.now });
    if (job.has_children) model.notes.parent.add(job.n);
    return;
  }
  const waits = model.edges.some(({ child }) => child === n);
  if (key !== null && !known)
    model.keys.set(key, { job: n, asks, expires_at: model.now + ttl_ms, noted: !pending || waits });
  if (!pending || waits) return;
  if (key !== null) job.kept_until = model.now + ttl_ms;
  seat(model, job, Math.max(model.now, job.run_at), takePlace);
}
