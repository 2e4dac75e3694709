import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { draftsOf } from "./drafts.ts";
import { reportEnqueued, type EnqueueOutcome, type Submission } from "./outcome.ts";
import { isRefusal, type EnqueueOptions, lookAgain, store } from "./enqueue.ts";
import type { Draft } from "./insert-jobs.ts";
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
        const known = new Map<Draft, EnqueueOutcome>();
        await store(executeOn(deps.database), drafts, known, { ...options, postponed, strict: true });
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

function refusalOf(outcomes: readonly (EnqueueOutcome | undefined)[]): EnqueueAllOutcome {
  const places = outcomes.flatMap((one, at) => (one?.kind === "mismatch" ? [at] : []));
  if (places.length > 0) return { kind: "mismatch", places };
  const held = outcomes.flatMap((one, at) => (one?.kind === "conflict" ? [{ at, job_id: one.job_id }] : []));
  return { kind: "conflict", places: held };
}
