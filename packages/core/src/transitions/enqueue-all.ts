import { inTransaction } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { enqueueWith, tellEnqueued, type EnqueueOptions, type EnqueueOutcome, type Submission } from "./enqueue.ts";

export type EnqueueAllOutcome =
  | { kind: "stored"; outcomes: EnqueueOutcome[] }
  /** Nothing was stored: the keys at these places were used for other requests. */
  | { kind: "mismatch"; places: number[] };

/**
 * (nothing) → queued | scheduled, all of them or none: one transaction, rolled back when a key turns out to be another
 * request's. Keys that were used for the same request before count as stored. Throws like `enqueue`.
 *
 * @example
 * const outcome = await enqueueAll(deps, submissions, { idempotency_ttl_seconds: 86_400 });
 */
export async function enqueueAll(
  deps: Deps,
  submissions: readonly Submission[],
  options: EnqueueOptions,
): Promise<EnqueueAllOutcome> {
  try {
    const outcomes = await inTransaction(deps.database, async (execute) => {
      const stored = await enqueueWith(execute, submissions, options);
      const places = stored.flatMap((outcome, at) => (outcome.kind === "mismatch" ? [at] : []));
      if (places.length > 0) throw new Mismatch(places);
      return stored;
    });
    outcomes.forEach((outcome, at) => tellEnqueued(deps.observe, submissions[at] as Submission, outcome));
    return { kind: "stored", outcomes };
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    for (const at of error.places) tellEnqueued(deps.observe, submissions[at] as Submission, { kind: "mismatch" });
    return { kind: "mismatch", places: error.places };
  }
}

/** Thrown through the transaction, so that it is rolled back. */
class Mismatch extends Error {
  readonly places: number[];
  constructor(places: number[]) {
    super("idempotency keys were used for other requests");
    this.places = places;
  }
}
