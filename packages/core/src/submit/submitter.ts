import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isFlow, standsAlone, type Flow } from "../flows/flow.ts";
import { answerFlow, draftFlow, jobsOf, storeFlows, type DraftedFlow, type FlowOutcome } from "../flows/submit-flow.ts";
import type { FollowUps } from "../follow-ups.ts";
import { isTakenMeanwhile } from "../database/refuse.ts";
import { draft, draftsOf } from "./drafts.ts";
import type { Wanted } from "./held.ts";
import { createAlone } from "./alone.ts";
import { enqueueAllOnce } from "./enqueue-all.ts";
import { createLine } from "./line.ts";
import { uniqueNameOf } from "./unique/plan.ts";
import { enqueueOnce, type EnqueueOptions } from "./enqueue.ts";
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
  /**
   * Commit jobs that wait for one another, all or none. Those that nobody else has a say in go many per statement; the
   * others, with unique keys or with parents that were there before, alone. Rejects like `submit`.
   */
  submitFlow(flow: Flow): Promise<FlowOutcome>;
  /**
   * Resolves when everything submitted has been answered. Submit nothing after calling it. With `give_up` nobody waits
   * for the answers any more: what is on its way is stored, and nothing is begun or tried again, as what somebody's lock
   * holds up could take minutes.
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
  deps: Deps & { followUps: Pick<FollowUps, "submitted" | "flowsSubmitted"> },
  options: EnqueueOptions,
): Submitter {
  const execute = executeOn(deps.database);
  const hastily = { ...options, impatient: true };
  const telling =
    (answered: () => void): Execute =>
    async (statement) => {
      const rows = await execute(statement);
      answered();
      return rows as never;
    };
  const store = async (submissions: readonly Submission[], answered: () => void) => {
    const outcomes = await asInsert(deps, submissions, () =>
      enqueueOnce(telling(answered), deps, submissions, hastily),
    );
    // Not awaited: the jobs are durable, and the next INSERT need not wait for Redis.
    deps.followUps.submitted(outcomes.filter((one) => one !== undefined));
    return outcomes;
  };
  const { timeout_ms } = deps.database;
  const terms = {
    store,
    wants: wantedBy,
    weigh: (one: Submission) => ({ bytes: bytesOf([one]), rows: 1 }),
    holderOf: ({ tenant }: Submission) => tenant,
  };
  const plain = createLine(execute, timeout_ms, terms);
  // What holds up the table of groups must not hold up those without.
  const grouped = createLine(execute, timeout_ms, terms);
  // Unique jobs take a look and a bigger statement; the others keep their single one.
  const unique = createLine(execute, timeout_ms, { ...terms, rows_max: unique_rows_max });

  const storeTogether = async (drafted: readonly DraftedFlow[], answered: () => void) => {
    const submissions = drafted.flatMap((one) => one.submissions);
    const storeAnswered = () =>
      asInsert(deps, submissions, async () => {
        const stored = await storeFlows(telling(answered), drafted, hastily);
        return drafted.map((one, at) => stored[at] && answerFlow(deps, one, stored[at]));
      });
    const outcomes = await storeAnswered().catch((error: unknown) => {
      // Of several it is not known whose key was taken: they go again in halves, and this one with a later batch.
      if (drafted.length === 1 && isTakenMeanwhile(error)) return [undefined];
      throw error;
    });
    for (const one of outcomes) if (one?.kind === "stored") deps.followUps.submitted(one.outcomes);
    return outcomes;
  };
  const flows = createLine(execute, timeout_ms, {
    store: storeTogether,
    wants: ({ submissions }) => submissions.flatMap(wantedBy),
    weigh: ({ submissions }) => ({ bytes: bytesOf(submissions), rows: submissions.length }),
    holderOf: ({ submissions }) => submissions[0]?.tenant ?? "",
  });

  const alone = createAlone(deps);
  const storeAlone = async (flow: Flow, submissions: readonly Submission[]): Promise<FlowOutcome> => {
    const drafted = isFlow(flow)
      ? await draftFlow(flow, submissions)
      : { submissions, drafts: await draftsOf(submissions) };
    return alone.run<FlowOutcome>(requestOf(submissions), (executing) =>
      asInsert(deps, submissions, async () => {
        if (!("flow" in drafted)) return enqueueAllOnce(executing, deps, drafted, hastily);
        const [stored] = await storeFlows(executing, [drafted], hastily);
        return stored && answerFlow(deps, drafted, stored);
      }),
    );
  };

  const lineOf = ({ request }: Submission) => {
    if (request.unique) return unique;
    return request.group === undefined ? plain : grouped;
  };
  const submitNow = (submission: Submission, bytes: number) => lineOf(submission).submit(submission, bytes);

  return {
    submit: (submission, bytes) =>
      deps.tracing ? sendOne(deps, submission, (one) => submitNow(one, bytes)) : submitNow(submission, bytes),
    submitTogether: (submissions) =>
      sendAll(deps, submissions, (all) => {
        const outcomes: (EnqueueOutcome | undefined)[] = all.map(() => undefined);
        return alone.run(requestOf(all), async (executing) => {
          const open = all.flatMap((one, at) => (outcomes[at] ? [] : [{ one, at }]));
          const rest = open.map(({ one }) => one);
          const found = await asInsert(deps, rest, () => enqueueOnce(executing, deps, rest, hastily));
          for (const [nth, { at }] of open.entries()) outcomes[at] = found[nth];
          const stored = outcomes.filter((one) => one !== undefined);
          return stored.length === all.length ? stored : undefined;
        });
      }),
    async submitFlow(flow) {
      if (standsAlone(flow))
        return sendAll(deps, jobsOf(flow), async (all) => {
          const drafted = await draftFlow(flow, all);
          const bytes = drafted.drafts.reduce((sum, { payload }) => sum + payload.length, 0);
          return flows.submit(drafted, bytes, all.length);
        });
      const outcome = await sendAll(deps, jobsOf(flow), (all) => storeAlone(flow, all));
      if (outcome.kind !== "stored") return outcome;
      deps.followUps.submitted(outcome.outcomes);
      // Parents that were there before may have ended.
      if (isFlow(flow)) deps.followUps.flowsSubmitted();
      return outcome;
    },
    async close({ give_up } = { give_up: false }) {
      const lines = [plain, grouped, unique, flows, alone];
      if (give_up) for (const line of lines) line.giveUp();
      await Promise.all(lines.map((line) => line.idle()));
    },
  };
}

/** Of others who submit: its group and its unique key. */
function wantedBy(submission: Submission): Wanted[] {
  const { tenant, request } = submission;
  const { queue, group } = request;
  const of_group: Wanted[] = group === undefined ? [] : [{ of: "group", tenant, queue, name: group }];
  if (!request.unique) return of_group;
  return [...of_group, { of: "unique", tenant, queue, name: uniqueNameOf(draft(submission)).key }];
}

const requestOf = (submissions: readonly Submission[]) => ({
  tenant: submissions[0]?.tenant ?? "",
  wants: submissions.flatMap(wantedBy),
});

const bytesOf = (submissions: readonly Submission[]): number =>
  submissions.reduce((sum, { request }) => sum + JSON.stringify(request.payload).length, 0);
