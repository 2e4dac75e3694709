import { madeAt } from "../ids.ts";
import { newRow } from "./drafts.ts";
import { keyName, type KeyedJob } from "./find-key-holders.ts";
import type { Draft } from "./insert-jobs.ts";
import type { EnqueueOutcome, KnownJob } from "./outcome.ts";

/** What drafts with known keys get: the key's job, or a mismatch. */
export function settleConflicts(
  drafts: readonly Draft[],
  found: readonly KeyedJob[],
  outcomes: Map<Draft, EnqueueOutcome>,
): void {
  if (found.length === 0) return;
  const byKey = new Map(found.map((row) => [keyName(row), row]));
  for (const one of drafts) {
    const row = one.key === null ? undefined : byKey.get(keyName(one));
    if (row) outcomes.set(one, answerOf(row.request_hash === one.hash, row.job ?? deletedJob(one, row.job_id)));
  }
}

/** Gives drafts that share a key with an earlier draft of the call its job. If that was refused, the key is free. */
export function resolveDuplicates(drafts: readonly Draft[], outcomes: Map<Draft, EnqueueOutcome>): void {
  const firsts = new Map<string, Draft>();
  for (const one of drafts) {
    if (one.key === null) continue;
    const key = keyName(one);
    const first = firsts.get(key) ?? one;
    const outcome = outcomes.get(first);
    if (outcome?.kind === "conflict") firsts.delete(key);
    else firsts.set(key, first);
    if (first !== one && !outcomes.has(one) && outcome && "job" in outcome)
      outcomes.set(one, answerOf(first.hash === one.hash, outcome.job));
  }
}

/** The job of a key that outlives it, by its request, which is the same, and its id, which says when it was made. */
function deletedJob(one: Draft, id: string): KnownJob {
  const created_at = madeAt(id);
  const job = newRow({ ...one, id }, { created_at, run_at: new Map(), blocked: new Set(), defaults: [] });
  return { ...job, status: "succeeded", ready_at: null };
}

const answerOf = (same: boolean, job: KnownJob): EnqueueOutcome =>
  same ? { kind: "replayed", job } : { kind: "mismatch" };
