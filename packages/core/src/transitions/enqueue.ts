import { hash } from "node:crypto";
import { canonicalJson, type SubmitJob } from "@atlasqueue/contract";
import type { JobRow } from "../database/schema.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import type { Observe } from "../observe/events.ts";
import { findByIdempotencyKeys, type KeyedJob } from "../queries/find-by-idempotency-keys.ts";
import { insertJobs, type Draft, type InsertOptions, type Inserted } from "./insert-jobs.ts";

/** A validated request to create a job. Without a key, every call creates another job. */
export type Submission = {
  tenant: string;
  request: SubmitJob;
  idempotency_key?: string | undefined;
  /** What the key stands for beside this request, where one key is for several jobs. */
  fingerprint?: string | undefined;
};

export type EnqueueOutcome =
  | { kind: "created"; job: JobRow }
  /** The key was used for the same request before: this is the job it made. */
  | { kind: "replayed"; job: JobRow }
  | { kind: "mismatch" };

export type EnqueueOptions = InsertOptions;

/** A key can expire or be pruned between our INSERT and our SELECT; then the INSERT is tried again. */
const rounds_max = 3;

/**
 * (nothing) → queued | scheduled. The jobs and their keys are committed together; when this returns `created`, they
 * are durable. Outcomes stand in the order of the submissions. Throws when the database is away: the outcome is then
 * unknown, and the same keys may be sent again.
 *
 * @example
 * const [outcome] = await enqueue(deps, [{ tenant: "default", request, idempotency_key: "order-17" }], options);
 */
export async function enqueue(
  deps: Deps,
  submissions: readonly Submission[],
  options: EnqueueOptions,
): Promise<EnqueueOutcome[]> {
  const outcomes = await enqueueWith(executeOn(deps.database), submissions, options);
  outcomes.forEach((outcome, at) => tellEnqueued(deps.observe, submissions[at] as Submission, outcome));
  return outcomes;
}

/** `enqueue` inside whatever transaction `execute` runs in: nothing is told, as it may yet be rolled back. */
export async function enqueueWith(
  execute: Execute,
  submissions: readonly Submission[],
  options: EnqueueOptions,
): Promise<EnqueueOutcome[]> {
  const drafts = submissions.map(draft);
  const outcomes = new Map<Draft, EnqueueOutcome>();
  let open = drafts;
  for (let round = 0; round < rounds_max && open.length > 0; round += 1) {
    const first = oncePerKey(open);
    const inserted = await insertJobs(execute, first, options);
    for (const one of first)
      if (!inserted.taken.has(one.id)) outcomes.set(one, { kind: "created", job: newRow(one, inserted) });
    const conflicting = open.filter((one) => !outcomes.has(one));
    if (conflicting.length > 0)
      settleConflicts(conflicting, await findByIdempotencyKeys(execute, conflicting.filter(hasKey)), outcomes);
    open = conflicting.filter((one) => !outcomes.has(one));
  }
  return drafts.map((one) => {
    const outcome = outcomes.get(one);
    if (!outcome) throw new Error(`an idempotency key kept changing under us: ${rounds_max} rounds were not enough`);
    return outcome;
  });
}

function draft({ tenant, request, idempotency_key, fingerprint = "" }: Submission): Draft {
  const { payload, ...rest } = request;
  const text = canonicalJson(payload);
  if (idempotency_key === undefined) return { id: newId(), tenant, request, payload: text, key: null, hash: "" };
  const digest = hash("sha256", `${canonicalJson(rest)}${text}${fingerprint}`, "hex");
  return { id: newId(), tenant, request, payload: text, key: idempotency_key, hash: digest };
}

/** A statement meets each key once: the first of those that share one. */
function oncePerKey(drafts: readonly Draft[]): Draft[] {
  const seen = new Set<string>();
  return drafts.filter((one) => {
    if (one.key === null) return true;
    const key = nameOf(one.tenant, one.key);
    return !seen.has(key) && seen.add(key);
  });
}

const hasKey = (one: Draft): one is Draft & { key: string } => one.key !== null;
const nameOf = (tenant: string, key: string | null) => `${tenant} ${key}`;

function settleConflicts(drafts: Draft[], found: KeyedJob[], outcomes: Map<Draft, EnqueueOutcome>): void {
  const byKey = new Map(found.map((row) => [nameOf(row.tenant, row.key), row]));
  for (const one of drafts) {
    const row = byKey.get(nameOf(one.tenant, one.key));
    if (row)
      outcomes.set(one, row.request_hash === one.hash ? { kind: "replayed", job: row.job } : { kind: "mismatch" });
  }
}

/** The row as it was just written, without reading it back; its place in its group is for the database alone. */
function newRow({ id, tenant, request }: Draft, { created_at, run_at, blocked }: Inserted): JobRow {
  const later = run_at.get(id) ?? null;
  const waits = blocked.has(id);
  return {
    id,
    tenant,
    queue: request.queue,
    type: request.type,
    status: waits ? "blocked" : later ? "scheduled" : "queued",
    priority: request.priority,
    attempts: 0,
    max_attempts: request.max_attempts,
    timeout_seconds: request.timeout_seconds ?? null,
    run_at: later ?? created_at,
    ready_at: waits || later ? null : created_at,
    due_at: waits ? null : later,
    dead_at: null,
    blocked_seq: null,
    holds_group: null,
    created_at,
    updated_at: created_at,
    started_at: null,
    finished_at: null,
    lease_token: null,
    locked_until: null,
    worker_id: null,
    group_key: request.group ?? null,
    dead_reason: null,
    last_error: null,
    backoff: request.backoff ?? null,
    progress: null,
    payload: request.payload,
    result: null,
  };
}

/** One event for each outcome; by the submission, as the outcome may carry no job. */
export function tellEnqueued(observe: Observe, { request }: Submission, outcome: EnqueueOutcome): void {
  const about = { job_type: request.type, queue: request.queue };
  switch (outcome.kind) {
    case "created":
      return observe({ event: "job_created", job_id: outcome.job.id, ...about, status: outcome.job.status });
    case "replayed":
      return observe({ event: "idempotent_submission", job_id: outcome.job.id, ...about });
    case "mismatch":
      return observe({ event: "idempotency_mismatch", ...about });
    default:
      outcome satisfies never;
  }
}
