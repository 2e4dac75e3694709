import { hash } from "node:crypto";
import { canonicalJson } from "@atlasqueue/contract";
import type { JobRow } from "../database/schema/index.ts";
import { newId } from "../ids.ts";
import type { KeyedJob } from "./find-key-holders.ts";
import type { EnqueueOutcome, Submission } from "./outcome.ts";
import type { Draft, Inserted } from "./insert-jobs.ts";

/** The job a submission asks for, about to be stored. */
export function draft({ tenant, request, idempotency_key, fingerprint = "" }: Submission): Draft {
  const { payload, ...rest } = request;
  const text = canonicalJson(payload);
  if (idempotency_key === undefined) return { id: newId(), tenant, request, payload: text, key: null, hash: "" };
  const digest = hash("sha256", `${canonicalJson(rest)}${text}${fingerprint}`, "hex");
  return { id: newId(), tenant, request, payload: text, key: idempotency_key, hash: digest };
}

/** A statement sees each key once: the first of those that share one. */
export function oncePerKey(drafts: readonly Draft[]): Draft[] {
  const seen = new Set<string>();
  return drafts.filter((one) => {
    if (one.key === null) return true;
    const key = nameOf(one.tenant, one.key);
    return !seen.has(key) && seen.add(key);
  });
}

export const hasKey = (one: Draft): one is Draft & { key: string } => one.key !== null;
const nameOf = (tenant: string, key: string | null) => `${tenant} ${key}`;

/** What drafts with known keys get: the key's job, or a mismatch. */
export function settleConflicts(
  drafts: readonly Draft[],
  found: readonly KeyedJob[],
  outcomes: Map<Draft, EnqueueOutcome>,
): void {
  if (found.length === 0) return;
  const byKey = new Map(found.map((row) => [nameOf(row.tenant, row.key), row]));
  for (const one of drafts) {
    const row = one.key === null ? undefined : byKey.get(nameOf(one.tenant, one.key));
    if (row) outcomes.set(one, answerOf(row.request_hash === one.hash, row.job));
  }
}

/**
 * What drafts get that share a key with an earlier one in the same call. If that one was refused and has no job, its
 * key is free for them.
 */
export function settleTwins(drafts: readonly Draft[], outcomes: Map<Draft, EnqueueOutcome>): void {
  const firsts = new Map<string, Draft>();
  for (const one of drafts) {
    if (one.key === null) continue;
    const key = nameOf(one.tenant, one.key);
    const first = firsts.get(key) ?? one;
    const outcome = outcomes.get(first);
    if (outcome?.kind === "conflict") firsts.delete(key);
    else firsts.set(key, first);
    if (first !== one && !outcomes.has(one) && outcome && "job" in outcome)
      outcomes.set(one, answerOf(first.hash === one.hash, outcome.job));
  }
}

/** Drafts that share a key with an earlier one in the same call but ask for something else. */
export function mismatchedTwins(drafts: readonly Draft[]): Draft[] {
  const hashes = new Map<string, string>();
  return drafts.filter((one) => {
    if (one.key === null) return false;
    const key = nameOf(one.tenant, one.key);
    hashes.set(key, hashes.get(key) ?? one.hash);
    return hashes.get(key) !== one.hash;
  });
}

const answerOf = (same: boolean, job: JobRow): EnqueueOutcome =>
  same ? { kind: "replayed", job } : { kind: "mismatch" };

/** The row as it was just written, without reading it back; only the database needs its place in its group. */
export function newRow(
  { id, tenant, request }: Draft,
  { created_at, run_at, blocked }: Omit<Inserted, "taken">,
): JobRow {
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
    kept_until: null,
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
