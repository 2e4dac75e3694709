import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isFlow, standsAlone, type Flow } from "../flows/flow.ts";
import {
  answerFlow,
  draftFlow,
  jobsOf,
  storeFlows,
  submitFlow as storeFlow,
  type DraftedFlow,
  type FlowOutcome,
} from "../flows/submit-flow.ts";
import type { FollowUps } from "../follow-ups.ts";
import { createGroupCommit } from "./group-commit.ts";
import { enqueue, enqueueOnce, type EnqueueOptions } from "./enqueue.ts";
import type { EnqueueOutcome, Submission } from "./outcome.ts";
import { asInsert, sendAll, sendOne } from "../tracing/send.ts";

/** The most jobs with unique keys in one batch: they take a look and a bigger statement. */
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
  /**
   * Commit jobs that wait for one another, all or none. Those that no other job has a say in go many per statement; the
   * others, with unique keys or with parents that were there before, alone. Rejects like `submit`.
   */
  submitFlow(flow: Flow): Promise<FlowOutcome>;
  /**
   * Resolves when everything submitted has been answered. Submit nothing after calling it. With `give_up` no answers are
   * waited for any more: what is on its way is stored, and nothing is begun or tried again.
   */
  close(how?: { give_up: boolean }): Promise<void>;
};

/**
 * Takes jobs in, many per statement (see `createGroupCommit`), and has them signalled.
 *
 * @example
 * const submitter = createSubmitter({ database, observe, followUps }, { idempotency_ttl_seconds: 86_400 });
 * const outcome = await submitter.submit({ tenant: "default", request, idempotency_key: "order-17" }, 200);
 */
export function createSubmitter(
  deps: Deps & { followUps: Pick<FollowUps, "submitted" | "drain"> },
  { idempotency_ttl_seconds }: EnqueueOptions,
): Submitter {
  const execute = executeOn(deps.database);
  const { timeout_ms } = deps.database;
  const onPostponed = () => void deps.followUps.drain();
  const options = { idempotency_ttl_seconds, onPostponed };
  const store = async (submissions: readonly Submission[], { postponed }: { postponed: boolean }) => {
    const outcomes = await asInsert(deps, submissions, () =>
      enqueueOnce(execute, deps, submissions, { ...options, postponed }),
    );
    // Not awaited: the jobs are durable, and the next INSERT need not wait for Redis.
    deps.followUps.submitted(outcomes.filter((one) => one !== undefined));
    if (postponed) onPostponed();
    return outcomes;
  };
  const holderOf = ({ tenant }: Submission) => tenant;
  const plain = createGroupCommit(store, timeout_ms, { holderOf });
  // Apart from those that wait for no group.
  const grouped = createGroupCommit(store, timeout_ms, { holderOf });
  const unique = createGroupCommit(store, timeout_ms, { holderOf, rows_max: unique_rows_max });

  const flows = createGroupCommit(
    async (drafted: readonly DraftedFlow[], { postponed }) => {
      const submissions = drafted.flatMap((one) => one.submissions);
      const outcomes = await asInsert(deps, submissions, async () => {
        const stored = await storeFlows(execute, drafted, { ...options, postponed });
        return drafted.map((one, at) => stored[at] && answerFlow(deps, one, stored[at]));
      });
      for (const one of outcomes) if (one?.kind === "stored") deps.followUps.submitted(one.outcomes);
      if (postponed) onPostponed();
      return outcomes;
    },
    timeout_ms,
    { holderOf: ({ submissions }) => submissions[0]?.tenant ?? "" },
  );

  /** Those whose statements are their own. */
  const under_way = new Set<Promise<unknown>>();
  const track = async <T>(work: Promise<T>): Promise<T> => {
    const settled = work.catch(() => {});
    under_way.add(settled);
    void settled.then(() => under_way.delete(settled));
    return work;
  };
  const submitNow = (submission: Submission, bytes: number) => {
    const { request } = submission;
    return (request.unique ? unique : request.group === undefined ? plain : grouped).submit(submission, bytes);
  };

  return {
    submit: (submission, bytes) =>
      deps.tracing ? sendOne(deps, submission, (one) => submitNow(one, bytes)) : submitNow(submission, bytes),
    submitTogether: (submissions) =>
      track(sendAll(deps, submissions, (all) => asInsert(deps, all, async () => enqueue(deps, all, options)))),
    async submitFlow(flow) {
      if (standsAlone(flow))
        return sendAll(deps, jobsOf(flow), async (all) => {
          const drafted = await draftFlow(flow, all);
          const bytes = drafted.drafts.reduce((sum, { payload }) => sum + payload.length, 0);
          return flows.submit(drafted, bytes, all.length);
        });
      const outcome = await track(storeFlow(deps, flow, options));
      if (outcome.kind !== "stored") return outcome;
      deps.followUps.submitted(outcome.outcomes);
      // Parents that were there before may have ended.
      if (isFlow(flow)) void deps.followUps.drain();
      return outcome;
    },
    async close({ give_up } = { give_up: false }) {
      const lines = [plain, grouped, unique, flows];
      if (give_up) for (const line of lines) line.giveUp();
      await Promise.all([...lines.map((line) => line.idle()), ...under_way]);
    },
  };
}
