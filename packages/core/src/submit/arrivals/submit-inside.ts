import { composed } from "../../database/composed.ts";
import { textArray } from "../../database/literals.ts";
import { replicated } from "../../database/replicated.ts";
import type { Execute } from "../../database/statement.ts";
import type { ReadyJob } from "../../signal/signal.ts";
import { uniqueVerdict } from "../unique/verdict.ts";
import { findKeyHolders, type KeyedJob, type KeyName } from "../find-key-holders.ts";
import { knownColumns, type KnownJob } from "../known-job.ts";
import { arrive } from "./arrive.ts";
import { draft, newRow } from "../drafts.ts";
import { hasKey, settleConflicts } from "../idempotency.ts";
import type { EnqueueOutcome, Submission } from "../outcome.ts";
import type { EnqueueOptions } from "../enqueue.ts";
import { insertJobs, type Draft } from "../insert-jobs.ts";
import { uniqueNameOf } from "../unique/plan.ts";

/** After the commit, `ready` is to be signalled, and a `pending` job is to be admitted. */
export type Inside = { outcome: EnqueueOutcome; ready?: ReadyJob; pending?: boolean };

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
  if (!job) throw new Error("the job was not stored");
  return { outcome: { kind: "created", job }, pending: true };
}

/** What is known already: a used key, even by a pending job, and a refusal. */
async function answerAtOnce(execute: Execute, one: Draft): Promise<EnqueueOutcome | undefined> {
  const { unique, group } = one.request;
  const keys = hasKey(one) ? [one] : [];
  const refuses = unique?.on_conflict === "reject";
  // Before the keys: one that is admitted between the two is found twice, and the other way round it would not be at all.
  const pending = await findPendingByKey(execute, keys);
  const { keyed, held } = await findKeyHolders(execute, keys, refuses ? [uniqueNameOf(one)] : []);
  const outcomes = new Map<Draft, EnqueueOutcome>();
  settleConflicts([one], [...pending, ...keyed], outcomes);
  const [holder] = held;
  if (outcomes.size === 0 && unique && holder?.job) {
    const { status, group_key } = holder.job;
    const verdict = uniqueVerdict({ status, group: group_key, window_over: holder.window_over }, unique, group ?? null);
    if (verdict === "reject") return { kind: "conflict", job_id: holder.job.id };
  }
  return outcomes.get(one);
}

/** Jobs with idempotency keys that have not been admitted yet: the first with each key. */
async function findPendingByKey(execute: Execute, keys: readonly KeyName[]): Promise<KeyedJob[]> {
  if (keys.length === 0) return [];
  const params = [textArray(keys.map(({ tenant }) => tenant)), textArray(keys.map(({ key }) => key))];
  type Row = KnownJob & { key: string; request_hash: string; replicated: boolean };
  const rows = await execute<Row>({ text: pendingByKey, params });
  return rows.map(({ key, request_hash, replicated: _replicated, ...job }) => ({
    tenant: job.tenant,
    key,
    request_hash,
    job,
  }));
}

const pendingByKey = composed(
  "submit/find-pending",
  ["tenants", "keys"],
  `
  SELECT wanted.key, first.request_hash, ${replicated}, ${knownColumns}
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, key) CROSS JOIN LATERAL (
    SELECT outbox.key AS job_id, payload ->> 'request_hash' AS request_hash FROM atlasqueue.outbox
    WHERE outbox.tenant = wanted.tenant AND payload ->> 'idempotency_key' = wanted.key ORDER BY id LIMIT 1) AS first
  JOIN atlasqueue.jobs ON jobs.id = first.job_id::uuid`,
);
