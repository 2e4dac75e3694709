import type { Execute } from "../../database/statement.ts";
import type { ReadyJob } from "../../signal/signal.ts";
import { uniqueVerdict } from "../unique/verdict.ts";
import { findArrivedByKey } from "./find-arrived.ts";
import { findKeyHolders } from "../find-key-holders.ts";
import { arrive } from "./arrive.ts";
import { draft, newRow } from "../drafts.ts";
import { hasKey, settleConflicts } from "../idempotency.ts";
import type { EnqueueOutcome, Submission } from "../outcome.ts";
import type { EnqueueOptions } from "../enqueue.ts";
import { insertJobs, type Draft } from "../insert-jobs.ts";
import { uniqueNameOf } from "../unique/plan.ts";

/** After the commit, `ready` is to be signalled, and a job that has `arrived` is to be admitted. */
export type Inside = { outcome: EnqueueOutcome; ready?: ReadyJob; arrived?: boolean };

/**
 * Store a job in a transaction that is not ours, and may stay open for long: it reads and inserts, and holds nothing
 * anyone could wait for. No event is emitted, as it may yet be rolled back.
 *
 * @example
 * const { outcome } = await submitInside(executeIn(tx), submission, { idempotency_ttl_seconds: 86_400 });
 */
export async function submitInside(execute: Execute, submission: Submission, options: EnqueueOptions): Promise<Inside> {
  const one = draft(submission);
  const { group, unique } = one.request;
  if (one.key === null && group === undefined && unique === undefined) {
    const job = newRow(one, await insertJobs(execute, [one], { ...options, inside: true }));
    return { outcome: { kind: "created", job }, ...(job.status === "queued" && { ready: job }) };
  }
  const known = await answerAtOnce(execute, one);
  if (known) return { outcome: known };
  const [job] = await arrive(execute, [one], options.idempotency_ttl_seconds);
  if (!job) throw new Error("the job has not arrived");
  return { outcome: { kind: "created", job }, arrived: true };
}

/** What is known already: a used key, even by a job that has only arrived, and a refusal. */
async function answerAtOnce(execute: Execute, one: Draft): Promise<EnqueueOutcome | undefined> {
  const { unique, group } = one.request;
  const keys = hasKey(one) ? [one] : [];
  const refuses = unique?.on_conflict === "reject";
  // Before the keys: one that is admitted between the two is found twice, and the other way round it would not be at all.
  const arrived = await findArrivedByKey(execute, keys);
  const { keyed, held } = await findKeyHolders(execute, keys, refuses ? [uniqueNameOf(one)] : []);
  const outcomes = new Map<Draft, EnqueueOutcome>();
  settleConflicts([one], [...arrived, ...keyed], outcomes);
  const [holder] = held;
  if (outcomes.size === 0 && unique && holder?.job) {
    const { status, group_key } = holder.job;
    const verdict = uniqueVerdict({ status, group: group_key, window_over: holder.window_over }, unique, group ?? null);
    if (verdict === "reject") return { kind: "conflict", job_id: holder.job.id };
  }
  return outcomes.get(one);
}
