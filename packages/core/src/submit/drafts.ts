import { hash } from "node:crypto";
import { canonicalJson, type JobDefaults, type SubmitJob } from "@atlasqueue/contract";
import type { JobRow } from "../database/schema/index.ts";
import { newId } from "../ids.ts";
import { yieldEvery } from "../pause.ts";
import type { Submission } from "./outcome.ts";
import { uniqueKeyOf } from "./unique/plan.ts";
import type { Draft, FoundDefaults, Inserted } from "./insert-jobs.ts";

/** The job a submission asks for, about to be stored. */
export function draft({ tenant, request, idempotency_key, fingerprint = "", trace }: Submission): Draft {
  const text = canonicalJson(request.payload);
  if (idempotency_key === undefined) return { id: newId(), tenant, request, payload: text, key: null, hash: "", trace };
  const digest = hash("sha256", `${canonicalJson({ ...request, payload: undefined })}${text}${fingerprint}`, "hex");
  return { id: newId(), tenant, request, payload: text, key: idempotency_key, hash: digest, trace };
}

/** The drafts of a long list, with a turn of the event loop now and then: most of the work is hashing. */
export async function draftsOf(submissions: readonly Submission[]): Promise<Draft[]> {
  const drafts: Draft[] = [];
  const rest = yieldEvery();
  for (const one of submissions) {
    drafts.push(draft(one));
    const turn = rest();
    if (turn) await turn;
  }
  return drafts;
}

/** When a job expires that was submitted then. */
export const expiryOf = ({ expires_in }: SubmitJob, submitted_at: Date): Date | null =>
  expires_in === undefined ? null : new Date(submitted_at.getTime() + 1_000 * expires_in);

/** The row as it was just written, without reading it back; only the database needs its place in its group. */
export function newRow(
  { id, tenant, request, trace, flow }: Draft,
  { created_at, run_at, blocked, defaults }: Pick<Inserted, "created_at" | "run_at" | "blocked" | "defaults">,
): JobRow {
  const later = run_at.get(id) ?? null;
  const window_seconds = request.unique?.window_seconds;
  const waits = blocked.has(id);
  return {
    id,
    tenant,
    queue: request.queue,
    type: request.type,
    status: waits ? "blocked" : later ? "scheduled" : "queued",
    priority: request.priority,
    attempts: 0,
    ...termsOf({ tenant, request }, defaults),
    run_at: later ?? created_at,
    ready_at: waits || later ? null : created_at,
    due_at: waits ? null : later,
    expires_at: expiryOf(request, created_at),
    dead_at: null,
    group_seq: null,
    active_group_key: null,
    created_at,
    updated_at: created_at,
    started_at: null,
    finished_at: null,
    kept_until: null,
    lease_token: null,
    locked_until: null,
    worker_id: null,
    group_key: request.group ?? null,
    tags: request.tags ?? null,
    dead_reason: null,
    last_error: null,
    error_fingerprint: null,
    progress: null,
    payload: request.payload,
    result: null,
    traceparent: trace?.traceparent ?? null,
    tracestate: trace?.tracestate ?? null,
    flow_id: flow?.flow_id ?? null,
    has_children: flow?.has_children ? true : null,
    waits_for: null,
    has_steps: null,
    unique_key: request.unique ? uniqueKeyOf(request, canonicalJson(request.payload)) : null,
    unique_until: window_seconds === undefined ? null : new Date(created_at.getTime() + 1_000 * window_seconds),
  };
}

/** The columns that the statement stored for a draft, by the defaults that it found. */
export function termsOf({ tenant, request }: { tenant: string; request: SubmitJob }, found: FoundDefaults) {
  const of_queue = found.find((one) => one.of_tenant === tenant && one.of_queue === request.queue)?.defaults;
  const of = <Name extends keyof JobDefaults>(name: Name) => request[name] ?? of_queue?.[name];
  return {
    max_attempts: of("max_attempts") ?? 5,
    timeout_seconds: of("timeout_seconds") ?? null,
    backoff: of("backoff") ?? null,
    retention_seconds: of("retention_seconds") ?? null,
    result_ttl_seconds: of("result_ttl_seconds") ?? null,
  };
}
