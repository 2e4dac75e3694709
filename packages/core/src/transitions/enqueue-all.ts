import type postgres from "postgres";
import { bounded } from "../database/bounded.ts";
import { DatabaseTimeoutError } from "../database/errors.ts";
import type { Execute, Statement } from "../database/statement.ts";
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
  const { database } = deps;
  const transaction = database.sql.begin(async (tx) => {
    const outcomes = await enqueueWith(executeWithin(tx, deps), submissions, options);
    const places = outcomes.flatMap((outcome, at) => (outcome.kind === "mismatch" ? [at] : []));
    if (places.length > 0) throw new Mismatch(places);
    return outcomes;
  });
  try {
    const outcomes = await inTime(transaction, database.timeout_ms);
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

/** Each statement has the deadline of its own. */
function executeWithin(tx: postgres.TransactionSql, { database }: Deps): Execute {
  return async <Row>({ text, params }: Statement) =>
    (await bounded(database, tx.unsafe(text, [...params], { prepare: true }))) as unknown as readonly Row[];
}

/** BEGIN and COMMIT have none: the driver sends them itself, and only the silence of the socket would end them. */
async function inTime<T>(work: Promise<T>, timeout_ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseTimeoutError(timeout_ms)), timeout_ms);
  });
  return Promise.race([work, late]).finally(() => {
    clearTimeout(timer);
    work.catch(() => {});
  });
}
