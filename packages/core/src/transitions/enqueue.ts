import { inTransaction } from "../database/transaction.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { findByIdempotencyKeys } from "../queries/find-by-idempotency-keys.ts";
import { draft, hasKey, newRow, oncePerKey, settleConflicts } from "./drafts.ts";
import { tellEnqueued, type EnqueueOutcome, type Submission } from "./enqueue-outcome.ts";
import { enqueueUnique } from "./enqueue-unique.ts";
import { insertJobs, type Draft, type InsertOptions } from "./insert-jobs.ts";

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
  const outcomes = submissions.some(isUnique)
    ? await inTransaction(deps.database, (execute) => enqueueWith(execute, submissions, options))
    : await enqueueWith(executeOn(deps.database), submissions, options);
  outcomes.forEach((outcome, at) => tellEnqueued(deps.observe, submissions[at] as Submission, outcome));
  return outcomes;
}

const isUnique = ({ request }: Submission) => request.unique !== undefined;

/** `enqueue` inside whatever transaction `execute` runs in: nothing is told, as it may yet be rolled back. */
export async function enqueueWith(
  execute: Execute,
  submissions: readonly Submission[],
  options: EnqueueOptions,
): Promise<EnqueueOutcome[]> {
  const drafts = submissions.map(draft);
  const outcomes = submissions.some(isUnique)
    ? await enqueueUnique(execute, drafts, options)
    : await enqueuePlain(execute, drafts, options);
  return drafts.map((one) => {
    const outcome = outcomes.get(one);
    if (!outcome) throw new Error("an idempotency key kept changing under us");
    return outcome;
  });
}

async function enqueuePlain(
  execute: Execute,
  drafts: readonly Draft[],
  options: EnqueueOptions,
): Promise<Map<Draft, EnqueueOutcome>> {
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
  return outcomes;
}
