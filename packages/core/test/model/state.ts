import { isFinal, type JobStatus, type OnParentFailure } from "@atlasqueue/contract";

/** What the model says of one job. Jobs are numbered in the order in which they were made; times are in milliseconds. */
export type ModelJob = {
  n: number;
  queue: string;
  group: string | null;
  priority: number;
  status: JobStatus;
  attempts: number;
  max_attempts: number;
  run_at: number;
  ready_at: number | null;
  due_at: number | null;
  expires_at: number | null;
  dead_at: number | null;
  finished_at: number | null;
  kept_until: number | null;
  /** Its place in its group while it is blocked; 0 before it has one. */
  group_seq: number | null;
  active_group_key: boolean;
  /** The claim it was last given by, until it is taken away. */
  token: number | null;
  locked_until: number | null;
  waits_for: string | null;
  has_steps: boolean;
  has_children: boolean;
  flow: number | null;
  /** It was cancelled because a parent failed. */
  cancelled_by_parent: boolean;
};

/** An idempotency key; `noted` when it names a job that was there before. */
type ModelKey = { job: number; asks: string; expires_at: number; noted: boolean };
type ModelEdge = { parent: number; child: number; policy: OnParentFailure; failed: boolean };
type ModelGroup = { last_seq: number; heads: number[]; last_started: number };
type Rate = { limit: number; period_seconds: number } | null;
export type ModelQueue = {
  paused: boolean;
  concurrency: number | null;
  group_concurrency: number | null;
  rate: Rate;
  group_rate: Rate;
  /** Its groups take turns. */
  in_turns: boolean;
};
/** A row of the outbox of a job that is to be admitted, with what it asks for. Of a lane, one is acted on at a time. */
type Admission = { job: number; lane: string; key: string | null; asks: string };

/** A lease of a job, and the group that the job is in. */
export type Taken = { job: number; token: number; group?: string };

/**
 * The whole state machine in a few maps: what packages/core promises of its tables, written down once more without SQL,
 * locks or clocks.
 */
export type Model = {
  now: number;
  /** The number of the next job, claim and flow. */
  next: { job: number; claim: number; flow: number };
  /** Those that are not removed. */
  jobs: Map<number, ModelJob>;
  queues: Map<string, ModelQueue>;
  /** By queue and group. */
  groups: Map<string, ModelGroup>;
  /** Groups in which a job has ended in this move. */
  ended: Set<string>;
  /** Groups that have room for jobs which wait in them. */
  overdue: Set<string>;
  claims: Map<number, { check_at: number; jobs: number[]; worker: string }>;
  /** How many jobs started by when, in each queue with a rate and in each group of one with a rate of groups. */
  starts: Map<string, Map<number, number>>;
  /** By queue whose groups take turns: when a job without a group last started. */
  ungrouped_started: Map<string, number>;
  /** By queue and key; until then, if it is a window, and otherwise until the job has ended. */
  unique: Map<string, { job: number; ends_at: number | null }>;
  keys: Map<string, ModelKey>;
  /** In the order in which they were written. */
  admissions: Admission[];
  edges: ModelEdge[];
  notes: { parent: Set<number>; child: Set<number> };
  signals: Set<string>;
  waits: Map<string, number>;
  /** Every lease ever given: old ones are used again, and must be refused. */
  leases: Taken[];
};

export function newModel(now: number): Model {
  return {
    now,
    next: { job: 0, claim: 0, flow: 0 },
    jobs: new Map(),
    queues: new Map(),
    groups: new Map(),
    ended: new Set(),
    overdue: new Set(),
    claims: new Map(),
    starts: new Map(),
    ungrouped_started: new Map(),
    unique: new Map(),
    keys: new Map(),
    admissions: [],
    edges: [],
    notes: { parent: new Set(), child: new Set() },
    signals: new Set(),
    waits: new Map(),
    leases: [],
  };
}

const unlimited: ModelQueue = {
  paused: false,
  concurrency: null,
  group_concurrency: null,
  rate: null,
  group_rate: null,
  in_turns: false,
};
export const queueOf = (model: Model, queue: string): ModelQueue => model.queues.get(queue) ?? unlimited;
export const groupOf = (queue: string, group: string) => `${queue}/${group}`;
export const slotsOf = (model: Model, queue: string) => queueOf(model, queue).group_concurrency ?? 1;
export const isOpen = ({ status }: ModelJob) => ["scheduled", "queued", "running", "failed"].includes(status);
export const isOver = (job: ModelJob | undefined) => job === undefined || isFinal(job.status);
export const statusOf = (model: Model, n: number): JobStatus | "gone" => model.jobs.get(n)?.status ?? "gone";
/** The highest priority first, and then the oldest. */
export const byAge = (jobs: readonly ModelJob[]): ModelJob[] =>
  jobs.toSorted((a, b) => b.priority - a.priority || Number(a.ready_at) - Number(b.ready_at) || a.n - b.n);
export const hasExpired = (model: Model, { attempts, expires_at }: ModelJob) =>
  attempts === 0 && expires_at !== null && expires_at <= model.now;
export const inOrder = (jobs: Iterable<ModelJob>) => [...jobs].toSorted((a, b) => a.n - b.n);

/** The job of a lease, if it still holds it. */
export function held(model: Model, { job, token }: { job: number; token: number }): ModelJob | undefined {
  const found = model.jobs.get(job);
  return found?.status === "running" && found.token === token ? found : undefined;
}

/** A job that may run has ended, or was cancelled: the next of its group may go, and its children must hear of it. */
export function ended(model: Model, job: ModelJob, had_its_turn = true): void {
  if (job.group !== null && had_its_turn) model.ended.add(groupOf(job.queue, job.group));
  if (job.has_children) model.notes.parent.add(job.n);
}

type Member = Pick<ModelJob, "n" | "queue"> & { group: string };

/** The place that a job gets in its group now: none yet where others wait to be admitted to it. */
export function joinGroup(model: Model, member: Member) {
  const lane = groupOf(member.queue, member.group);
  if (!model.admissions.some((one) => one.lane === lane)) return takePlace(model, member);
  model.admissions.push({ job: member.n, lane, key: null, asks: "" });
  return { may_run: false, seq: 0, active_group_key: false };
}

export function takePlace(model: Model, { n, queue, group }: Member) {
  const name = groupOf(queue, group);
  const known = model.groups.get(name) ?? { last_seq: 0, heads: [], last_started: model.now };
  const slots = slotsOf(model, queue);
  const may_run = !model.overdue.has(name) && known.heads.length < slots;
  model.groups.set(name, {
    ...known,
    last_seq: known.last_seq + 1,
    heads: may_run ? [...known.heads, n] : known.heads,
  });
  return { may_run, seq: known.last_seq + 1, active_group_key: may_run && slots === 1 };
}
