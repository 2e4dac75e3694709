import { hash } from "node:crypto";
import { isFinal, type JobStatus, type SubmitJob, type Unique } from "@atlasqueue/contract";
import type { HeldKey, UniqueName } from "../find-key-holders.ts";
import type { EnqueueOutcome, KnownJob } from "../outcome.ts";
import type { Draft } from "../insert-jobs.ts";

export type Seen = { id: string; version: string };
/** A unique key in the call, and its holder: a stored job, or one being made now. */
export type Slot = {
  name: UniqueName;
  /** The job that had the key when it was looked at, and the version of its row; null when none had it. */
  seen: Seen | null;
  window_over: boolean | null;
  job: KnownJob | undefined;
  make: Make | undefined;
  /** What the stored job should become. */
  replacement: Draft | undefined;
};
/** A job to be made. `content` is that of a later draft in the call that replaces it. */
export type Make = { draft: Draft; content: Draft; slot: Slot | undefined };
/** A draft answered with the job of a slot. */
export type Join = { draft: Draft; slot: Slot; replaces: boolean };
/** `refused` are refused in any case, `rejects` only if their slot's job is made. */
export type Plan = { makes: Make[]; joins: Join[]; refused: Map<Draft, EnqueueOutcome>; rejects: Map<Draft, Make> };

/** The unique key a draft asks for. */
export function uniqueNameOf({ tenant, request, payload }: Draft): UniqueName {
  return { tenant, queue: request.queue, key: uniqueKeyOf(request, payload) };
}

/**
 * What to do about drafts, by what their unique keys named a moment ago; in order, as a later one may meet an earlier
 * one's job.
 */
export function planUnique(
  drafts: readonly Draft[],
  names: ReadonlyMap<Draft, UniqueName>,
  held: readonly HeldKey[],
): Plan {
  const byName = new Map(held.map((one) => [textOf(one), one]));
  const slots = new Map<string, Slot>();
  const slotOf = (draft: Draft): Slot | undefined => {
    const name = names.get(draft);
    if (!name) return undefined;
    const known = slots.get(textOf(name));
    if (known) return known;
    const seen = byName.get(textOf(name));
    const { window_over = null, job } = seen ?? {};
    const of_job = seen ? { id: seen.job.id, version: seen.version } : null;
    const slot = { name, seen: of_job, window_over, job, make: undefined, replacement: undefined };
    slots.set(textOf(name), slot);
    return slot;
  };
  const plan: Plan = { makes: [], joins: [], refused: new Map(), rejects: new Map() };
  for (const draft of drafts) take(plan, draft, slotOf(draft));
  return plan;
}

function take(plan: Plan, draft: Draft, slot: Slot | undefined): void {
  const make = (): Make => {
    const made = { draft, content: draft, slot };
    plan.makes.push(made);
    return made;
  };
  if (!slot) return void make();
  const unique = draft.request.unique as Unique;
  const verdict = uniqueVerdict(holderOf(slot), unique, draft.request.group ?? null);
  switch (verdict) {
    case "take":
      slot.make = make();
      slot.window_over = unique.scope === "window" ? false : null;
      return;
    case "reject":
      if (slot.make) plan.rejects.set(draft, slot.make);
      else plan.refused.set(draft, { kind: "conflict", job_id: holderIdOf(slot) });
      return;
    case "return":
      plan.joins.push({ draft, slot, replaces: false });
      return;
    case "replace":
      if (slot.make) slot.make.content = draft;
      else slot.replacement = draft;
      plan.joins.push({ draft, slot, replaces: true });
      return;
    default:
      verdict satisfies never;
  }
}

function holderOf({ make, job, window_over }: Slot) {
  if (make) return { status: "queued" as const, group: make.draft.request.group ?? null, window_over };
  if (!job) return undefined;
  const { status, group_key: group, has_steps, flow_id, has_children } = job;
  return { status, group, window_over, has_steps, flow_id, has_children };
}

export const holderIdOf = ({ make, job }: Slot): string => make?.draft.id ?? job?.id ?? "";
const textOf = ({ tenant, queue, key }: UniqueName) => JSON.stringify([tenant, queue, key]);

/** The job that holds a unique key. `window_over` is null when it holds the key until it is final. */
type Holder = {
  status: JobStatus;
  group: string | null;
  window_over: boolean | null;
  /** It has done a part, or was sent a signal: with another payload that would be lost. */
  has_steps?: boolean | null;
  /** The flow it is a job of: those that wait for it, and those it waits for, mean what it was made for. */
  flow_id?: string | null;
  /** Others wait for it without being of its flow. */
  has_children?: boolean | null;
};

type UniqueVerdict =
  /** No one holds it: the new job takes the key. */
  | "take"
  /** The holder is the answer, unchanged or rewritten by the new request. */
  | "return"
  | "replace"
  | "reject";

/**
 * What becomes of a request whose unique key is held. A job that has started, is part of a flow, or is
 * waited for by others, cannot be replaced: then the request makes a new job, which takes the key, so that what it asks for is done after all. The place in a group cannot be replaced.
 */
function uniqueVerdict(holder: Holder | undefined, { on_conflict }: Unique, group: string | null) {
  if (!holder || (holder.window_over ?? isFinal(holder.status))) return "take" satisfies UniqueVerdict;
  if (on_conflict !== "replace") return on_conflict satisfies UniqueVerdict;
  if (!waiting.has(holder.status) || isWantedAsItIs(holder)) return "take" satisfies UniqueVerdict;
  return (holder.group === group ? "replace" : "reject") satisfies UniqueVerdict;
}

const isWantedAsItIs = ({ has_steps, flow_id, has_children }: Holder) => has_steps || flow_id || has_children;

const waiting = new Set<JobStatus>(["scheduled", "blocked", "queued", "failed"]);

/** The key as stored: the caller's own, or derived from the job. Neither can be mistaken for the other. */
export function uniqueKeyOf({ type, unique }: SubmitJob, payload: string): string {
  if (unique?.key !== undefined) return `key:${unique.key}`;
  return `job:${hash("sha256", `${JSON.stringify(type)}${payload}`, "hex")}`;
}

/**
 * A part of a WITH: scheduled | queued | failed | blocked → scheduled, queued or blocked, with everything a newer
 * request says: debounce. A job keeps its id, its group and its place there, and while it stays queued, its place in
 * the queue.
 *
 * `asked` is a part with the columns each should get, in the rows that are for it (`writes`), and `holders` has them locked.
 */
export const replaced = `replaced AS (
    UPDATE atlasqueue.jobs SET type = content.type, priority = content.priority, max_attempts = content.max_attempts,
                    timeout_seconds = content.timeout_seconds, backoff = content.backoff, tags = content.tags, expires_at = content.expires_at,
                    retention_seconds = content.retention_seconds, result_ttl_seconds = content.result_ttl_seconds,
                    payload = content.payload, traceparent = content.traceparent, tracestate = content.tracestate,
                    run_at = content.starts_at,
                    status = CASE WHEN jobs.status = 'blocked' THEN 'blocked' WHEN content.starts_at > now() THEN 'scheduled' ELSE 'queued' END,
                    ready_at = CASE WHEN jobs.status <> 'blocked' AND NOT content.starts_at > now() THEN coalesce(ready_at, now()) END,
                    due_at = CASE WHEN jobs.status <> 'blocked' AND content.starts_at > now() THEN content.starts_at END,
                    attempts = 0, started_at = NULL, worker_id = NULL, lease_token = NULL, last_error = NULL, progress = NULL,
                    updated_at = now()
    FROM asked AS content JOIN holders ON holders.id = content.seen
    WHERE content.writes AND jobs.id = holders.id AND jobs.id = ANY(ARRAY(SELECT seen FROM asked WHERE writes))
    RETURNING jobs.id, jobs.tenant, jobs.queue, holders.status AS was, jobs.status, jobs.run_at, jobs.ready_at, jobs.due_at,
              jobs.updated_at
  )`;
