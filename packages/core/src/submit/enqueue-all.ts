import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { draftsOf, newRow } from "./drafts.ts";
import { mismatchedDuplicates, oncePerKey, settleConflicts, resolveDuplicates } from "./find-key-holders.ts";
import { reportEnqueued, type EnqueueOutcome, type Submission } from "./outcome.ts";
import { enqueueUnique } from "./unique/enqueue.ts";
import { isRelated, look, type EnqueueOptions, lookAgain } from "./enqueue.ts";
import { insertJobs, type Draft } from "./insert-jobs.ts";
import { asInsert, sendAll } from "../tracing/send.ts";

export type EnqueueAllOutcome =
  | { kind: "stored"; outcomes: EnqueueOutcome[] }
  /** Nothing was stored: the keys at these positions were used for other requests. */
  | { kind: "mismatch"; places: number[] }
  /** Nothing was stored: jobs with the unique keys at these positions exist. */
  | { kind: "conflict"; places: { at: number; job_id: string }[] };

/**
 * (nothing) → queued | scheduled | blocked, all of them or none: a look at what the keys name, then one statement,
 * which undoes itself if a key was taken meanwhile. Keys already used for the same request count as stored. Throws like
 * `enqueue`.
 *
 * @example
 * const outcome = await enqueueAll(deps, submissions, { idempotency_ttl_seconds: 86_400 });
 */
export async function enqueueAll(
  deps: Deps,
  submissions: readonly Submission[],
  options: EnqueueOptions,
): Promise<EnqueueAllOutcome> {
  return sendAll(deps, submissions, (all) =>
    asInsert(deps, all, async () => {
      const drafts = await draftsOf(all);
      const outcomes = await lookAgain(async (postponed) => {
        const known = await storeAll(executeOn(deps.database), drafts, { ...options, postponed });
        return isWhole(drafts, known) ? known : undefined;
      }, options);
      return answerAll(deps, all, drafts, outcomes);
    }),
  );
}

const isWhole = (drafts: readonly Draft[], outcomes: ReadonlyMap<Draft, EnqueueOutcome>) =>
  outcomes.size === drafts.length || [...outcomes.values()].some(isRefusal);

/** Reports what became of all of them, or why nothing did. */
export function answerAll(
  { observe }: Pick<Deps, "observe">,
  submissions: readonly Submission[],
  drafts: readonly Draft[],
  outcomes: ReadonlyMap<Draft, EnqueueOutcome>,
): EnqueueAllOutcome {
  const refused = [...outcomes.values()].some(isRefusal);
  drafts.forEach((one, at) => {
    const outcome = outcomes.get(one);
    if (outcome && (!refused || isRefusal(outcome))) reportEnqueued(observe, submissions[at] as Submission, outcome);
  });
  if (refused) return refusalOf(drafts.map((one) => outcomes.get(one)));
  return { kind: "stored", outcomes: drafts.flatMap((one) => outcomes.get(one) ?? []) };
}

/** Either all of them were stored, or some outcomes are refusals and nothing was. */
async function storeAll(
  execute: Execute,
  drafts: readonly Draft[],
  options: EnqueueOptions,
): Promise<Map<Draft, EnqueueOutcome>> {
  const outcomes = new Map<Draft, EnqueueOutcome>(
    mismatchedDuplicates(drafts).map((one) => [one, { kind: "mismatch" }]),
  );
  const known = await look(execute, drafts);
  settleConflicts(drafts, known.keyed, outcomes);
  if ([...outcomes.values()].some(isRefusal)) return outcomes;
  const first = oncePerKey(drafts.filter((one) => !outcomes.has(one)));
  const strictly = { ...options, strict: true };
  if (first.some(isRelated)) {
    for (const [one, outcome] of await enqueueUnique(execute, first, known.held, strictly)) outcomes.set(one, outcome);
  } else if (first.length > 0) {
    const inserted = await insertJobs(execute, first, strictly);
    for (const one of first) outcomes.set(one, { kind: "created", job: newRow(one, inserted) });
  }
  resolveDuplicates(drafts, outcomes);
  return outcomes;
}

const isRefusal = ({ kind }: EnqueueOutcome) => kind === "mismatch" || kind === "conflict";

function refusalOf(outcomes: readonly (EnqueueOutcome | undefined)[]): EnqueueAllOutcome {
  const places = outcomes.flatMap((one, at) => (one?.kind === "mismatch" ? [at] : []));
  if (places.length > 0) return { kind: "mismatch", places };
  const held = outcomes.flatMap((one, at) => (one?.kind === "conflict" ? [{ at, job_id: one.job_id }] : []));
  return { kind: "conflict", places: held };
}
