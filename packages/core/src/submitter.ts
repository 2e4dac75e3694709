import { createCountFolder } from "./count-folder.ts";
import type { Deps } from "./deps.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createPromoter } from "./promoter.ts";
import { announce } from "./signal/announce.ts";
import type { Signal } from "./signal/signal.ts";
import { enqueue, type EnqueueOptions } from "./transitions/enqueue.ts";
import { delaysAmong, readyAmong, type EnqueueOutcome, type Submission } from "./transitions/enqueue-outcome.ts";

/** Jobs that ask to be unique in one transaction at most, as each locks its key until the commit. */
const unique_rows_max = 100;

export type Submitter = {
  /**
   * Commit one job with its key; resolves when it is durable, rejects when the database is away or the deadline has
   * passed: the outcome is then unknown, and the same key may be sent again. `bytes` is about what the payload weighs.
   */
  submit(submission: Submission, bytes: number): Promise<EnqueueOutcome>;
  /** Commit several jobs in one transaction of their own: all of them or none. */
  submitTogether(submissions: readonly Submission[]): Promise<EnqueueOutcome[]>;
  /** Signal what `submitTogether` made. Not waited for: the jobs are durable. */
  follow(outcomes: readonly EnqueueOutcome[]): void;
  /** Resolves when all that was submitted has been answered and signalled. Nothing may be submitted after it. */
  close(): Promise<void>;
};

/**
 * Takes jobs in, many at once in one statement (see `createGroupCommit`), and signals them.
 *
 * @example
 * const submitter = createSubmitter({ database, signal, observe }, { idempotency_ttl_seconds: 86_400 });
 * const outcome = await submitter.submit({ tenant: "default", request, idempotency_key: "order-17" }, 200);
 */
export function createSubmitter(deps: Deps & { signal: Signal }, options: EnqueueOptions): Submitter {
  const promoter = createPromoter(deps);
  const folder = createCountFolder(deps);
  const announcing = new Set<Promise<unknown>>();

  const follow = (outcomes: readonly EnqueueOutcome[]) => {
    folder.touch();
    // Not waited for: the jobs are durable, and the next INSERT need not stand behind Redis.
    const announced = announce(deps, readyAmong(outcomes)).finally(() => announcing.delete(announced));
    announcing.add(announced);
    if (deps.signal.heard) for (const delay_ms of delaysAmong(outcomes)) promoter.expectIn(delay_ms);
  };

  const store = async (submissions: readonly Submission[]) => {
    const outcomes = await enqueue(deps, submissions, options);
    follow(outcomes);
    return outcomes;
  };
  const plain = createGroupCommit(store, deps.database.timeout_ms);
  // Theirs are several statements that wait for each other's keys: the others' one statement stays as it is.
  const unique = createGroupCommit(store, deps.database.timeout_ms, { rows_max: unique_rows_max });

  return {
    submit: (submission, bytes) => (submission.request.unique ? unique : plain).submit(submission, bytes),
    submitTogether: (submissions) => enqueue(deps, submissions, options),
    follow,
    async close() {
      await Promise.all([plain.idle(), unique.idle()]);
      await Promise.all(announcing);
      promoter.stop();
      folder.stop();
    },
  };
}
