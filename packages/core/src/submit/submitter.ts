import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import { createGroupCommit } from "./group-commit.ts";
import { enqueue, enqueueOnce, type EnqueueOptions } from "./enqueue.ts";
import type { EnqueueOutcome, Submission } from "./outcome.ts";
import { asInsert, sendAll, sendOne } from "../tracing/send.ts";

/** The most unique jobs in one batch: each of them is looked up before it is stored. */
const unique_rows_max = 100;

export type Submitter = {
  /**
   * Commit one job with its key; resolves when it is durable, rejects when the database is away or the deadline has
   * passed: the outcome is then unknown, and the same key may be sent again. `bytes` is roughly the payload's size.
   */
  submit(submission: Submission, bytes: number): Promise<EnqueueOutcome>;
  /**
   * Commit several jobs, in one statement unless some must wait for others' keys. The caller says when that is allowed.
   * When it rejects, some may be stored.
   */
  submitTogether(submissions: readonly Submission[]): Promise<EnqueueOutcome[]>;
  /** Resolves when everything submitted has been answered. Submit nothing after calling it. */
  close(): Promise<void>;
};

/**
 * Takes jobs in, many per statement (see `createGroupCommit`), and has them signalled.
 *
 * @example
 * const submitter = createSubmitter({ database, observe, followUps }, { idempotency_ttl_seconds: 86_400 });
 * const outcome = await submitter.submit({ tenant: "default", request, idempotency_key: "order-17" }, 200);
 */
export function createSubmitter(
  deps: Deps & { followUps: Pick<FollowUps, "submitted"> },
  options: EnqueueOptions,
): Submitter {
  const execute = executeOn(deps.database);
  const store = async (submissions: readonly Submission[], answered: () => void) => {
    const telling: Execute = async (statement) => {
      const rows = await execute(statement);
      answered();
      return rows as never;
    };
    const outcomes = await asInsert(deps, submissions, () => enqueueOnce(telling, deps, submissions, options));
    // Not awaited: the jobs are durable, and the next INSERT need not wait for Redis.
    deps.followUps.submitted(outcomes.filter((one) => one !== undefined));
    return outcomes;
  };
  const plain = createGroupCommit(store, deps.database.timeout_ms);
  // Unique jobs take a look and a bigger statement; the others keep their single one.
  const unique = createGroupCommit(store, deps.database.timeout_ms, { rows_max: unique_rows_max });

  const submitNow = (submission: Submission, bytes: number) =>
    (submission.request.unique ? unique : plain).submit(submission, bytes);

  return {
    submit: (submission, bytes) =>
      deps.tracing ? sendOne(deps, submission, (one) => submitNow(one, bytes)) : submitNow(submission, bytes),
    submitTogether: (submissions) =>
      sendAll(deps, submissions, (all) => asInsert(deps, all, () => enqueue(deps, all, options))),
    async close() {
      await Promise.all([plain.idle(), unique.idle()]);
    },
  };
}
