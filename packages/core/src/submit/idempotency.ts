import type { KeyedJob } from "./find-key-holders.ts";
import type { KnownJob } from "./known-job.ts";
import type { EnqueueOutcome } from "./outcome.ts";
import type { Draft } from "./insert-jobs.ts";

/** A statement sees each key once: the first of those that share one. */
export function oncePerKey(drafts: readonly Draft[]): Draft[] {
  const seen = new Set<string>();
  return drafts.filter((one) => {
    if (one.key === null) return true;
    const key = keyName(one);
    return !seen.has(key) && seen.add(key);
  });
}

export const hasKey = (one: Draft): one is Draft & { key: string } => one.key !== null;
/** What is the same for those with the same key. */
export const keyName = ({ tenant, key }: { tenant: string; key: string | null }): string => `${tenant} ${key}`;

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
    const key = keyName(one);
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
    const key = keyName(one);
    hashes.set(key, hashes.get(key) ?? one.hash);
    return hashes.get(key) !== one.hash;
  });
}

const answerOf = (same: boolean, job: KnownJob): EnqueueOutcome =>
  same ? { kind: "replayed", job } : { kind: "mismatch" };
