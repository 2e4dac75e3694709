import { inTransaction } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { tellEnqueued, type EnqueueOutcome, type Submission } from "./enqueue-outcome.ts";
import { enqueueWith, type EnqueueOptions } from "./enqueue.ts";

export type EnqueueAllOutcome =
  | { kind: "stored"; outcomes: EnqueueOutcome[] }
  /** Nothing was stored: the keys at these places were used for other requests. */
  | { kind: "mismatch"; places: number[] }
  /** Nothing was stored: jobs with the unique keys of these places are there. */
  | { kind: "conflict"; places: { at: number; job_id: string }[] };

/**
 * (nothing) → queued | scheduled, all of them or none: one transaction, rolled back when a key turns out to be another
 * request's, or a unique one is held. Keys that were used for the same request before count as stored. Throws like
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
  const tell = (outcome: EnqueueOutcome, at: number) =>
    tellEnqueued(deps.observe, submissions[at] as Submission, outcome);
  try {
    const outcomes = await inTransaction(deps.database, async (execute) => {
      const all = await enqueueWith(execute, submissions, options);
      if (all.some(isRefusal)) throw new Refused(all);
      return all;
    });
    outcomes.forEach(tell);
    return { kind: "stored", outcomes };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    error.outcomes.forEach((outcome, at) => isRefusal(outcome) && tell(outcome, at));
    return refusalOf(error.outcomes);
  }
}

const isRefusal = ({ kind }: EnqueueOutcome) => kind === "mismatch" || kind === "conflict";

function refusalOf(outcomes: readonly EnqueueOutcome[]): EnqueueAllOutcome {
  const places = outcomes.flatMap(({ kind }, at) => (kind === "mismatch" ? [at] : []));
  if (places.length > 0) return { kind: "mismatch", places };
  const held = outcomes.flatMap((one, at) => (one.kind === "conflict" ? [{ at, job_id: one.job_id }] : []));
  return { kind: "conflict", places: held };
}

/** Thrown through the transaction, so that it is rolled back. */
class Refused extends Error {
  readonly outcomes: EnqueueOutcome[];
  constructor(outcomes: EnqueueOutcome[]) {
    super("keys belong to other requests, or are held by other jobs");
    this.outcomes = outcomes;
  }
}
