import type { SubmitJob, Unique } from "@atlasqueue/contract";
import { composed } from "../../database/composed.ts";
import { uuidArray } from "../../database/literals.ts";
import type { Execute } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import {
  forgetSpentKeys,
  findKeyHolders,
  type UniqueName,
  hasKey,
  keyName,
  settleConflicts,
} from "../find-key-holders.ts";
import type { Handled, OutboxRow } from "../../outbox/drain-page.ts";
import { groupIsFree, sameGroup } from "../../groups/join.ts";
import { applySubmissions, type AppliedSubmissions, type Step } from "../apply-submissions.ts";
import type { Draft } from "../insert-jobs.ts";
import { reportEnqueued, type EnqueueOutcome, knownColumns, type KnownJob } from "../outcome.ts";
import { holderAfter, joined, stepsOf } from "../unique/enqueue.ts";
import { planUnique, type Plan } from "../unique/plan.ts";

/** `counted` are the ids of those that are no new submissions; `ended` of those to which another job is the answer. */
export type Admitted = { outcomes: EnqueueOutcome[]; counted: ReadonlySet<string>; ended: string[] };

/** What a row `admit` says that its job asks for. Its group is in the job. */
type Asks = {
  idempotency_key?: string;
  request_hash?: string;
  key_ttl_seconds?: number;
  unique_key?: string;
  on_conflict?: Unique["on_conflict"];
  window_seconds?: number;
  /** It is no new submission: it has waited for other jobs, or for its place in a group. */
  counted?: boolean;
  /** How often it was put off. */
  tries?: number;
};
/** `waits` for parents: then it gets its place when they have ended. It is not `pending` once it was cancelled. */
type Pending = KnownJob & { pending: boolean; waits: boolean; group_is_free: boolean };
type One = { row: OutboxRow; job: Pending; asks: Asks; draft: Draft };

/**
 * blocked, without a place → queued | scheduled | blocked in its place, or cancelled: jobs that came with other
 * transactions get their keys and their places in their groups. A job whose key turns out to be another's ends here, and
 * its `last_error` names that one. The key of one that was cancelled before still stands for it.
 *
 * All of a page or none: it throws when a key is taken meanwhile (`isTakenMeanwhile`), or another transaction keeps one
 * locked (`isLocked`). Those whose group is locked, or that were put off, are tried alone: then they wait for it, as in a
 * busy group each look could meet another statement's lock. `admitted` is called after the commit.
 */
export async function admit(
  { observe }: Pick<Deps, "observe">,
  execute: Execute,
  { rows, is_alone }: { rows: readonly OutboxRow[]; is_alone: boolean },
  admitted: (jobs: Admitted) => Promise<void>,
): Promise<Handled> {
  const found = await execute<Pending>({ text: readText, params: [uuidArray(rows.flatMap(({ key }) => key ?? []))] });
  const jobs = new Map(found.map((job) => [job.id, job]));
  const all = rows.flatMap((row) => {
    const job = jobs.get(row.key ?? "");
    return job ? [{ row, job, asks: asksOf(row), draft: draftOf(job, asksOf(row)) }] : [];
  });
  const isFree = ({ asks, job }: One) => is_alone || (!asks.tries && (job.group_is_free || !job.pending));
  const { first, rest, alone } = inOrder(all, isFree);
  const done = await admitFirst(execute, first);
  return {
    again: rest.map(({ row }) => row),
    alone: alone.map(({ row }) => row),
    async committed() {
      const counted = new Set(first.flatMap(({ job, asks }) => (asks.counted ? [job.id] : [])));
      for (const [{ id, tenant, request, trace }, outcome] of done)
        if (!counted.has(id)) reportEnqueued(observe, { tenant, request, trace }, outcome);
      const ended = [...done].flatMap(([{ id }, { kind }]) => (kind === "created" ? [] : [id]));
      await admitted({ outcomes: [...done.values()], counted, ended });
    },
  };
}

async function admitFirst(execute: Execute, all: readonly One[]): Promise<Map<Draft, EnqueueOutcome>> {
  const oneOf = new Map(all.map((one) => [one.draft, one]));
  const drafts = all.map(({ draft }) => draft);
  const names = new Map(all.flatMap((one) => [...uniqueNameOf(one)].map((name) => [one.draft, name] as const)));
  const known = await findKeyHolders(execute, drafts.filter(hasKey), [...names.values()]);
  await forgetSpentKeys(execute, known.spent);
  const refused = new Map<Draft, EnqueueOutcome>();
  const pending = all.filter(({ job }) => job.pending);
  settleConflicts(
    pending.map(({ draft }) => draft),
    known.keyed,
    refused,
  );
  const open = pending.filter(({ draft, job }) => !refused.has(draft) && !job.waits).map(({ draft }) => draft);
  const plan = planUnique(open, names, known.held);
  for (const [draft, outcome] of plan.refused) refused.set(draft, outcome);

  const taken = new Set(known.keyed.map(keyName));
  const ttlOf = (draft: Draft) => oneOf.get(draft)?.asks.key_ttl_seconds ?? 0;
  const planned = new Set([...open, ...refused.keys()]);
  const steps: Step[] = [
    ...stepsOf(plan, ttlOf).map((one) => (one.role === "join" ? { ...one, reason: reasonOf(plan, one) } : one)),
    // The key of a refused one is another's, or stays free.
    ...[...refused].map(([draft, outcome]) =>
      stepOf({ ...draft, key: null }, "join", 0, refusalOf(draft.key, outcome)),
    ),
    ...drafts
      .filter((draft) => !planned.has(draft) && draft.key !== null && !taken.has(keyName(draft)))
      .map((draft) => stepOf(draft, "note", ttlOf(draft))),
  ];
  if (steps.length === 0) return refused;
  const done = await applySubmissions(execute, steps, "admit");
  return new Map([...refused, ...outcomesOf(plan, oneOf, done)]);
}

/** `first` are free, and the first with their keys. The `rest` are to see what becomes of these, or of those before them in their lanes. */
function inOrder(all: readonly One[], isFree: (one: One) => boolean) {
  const seen = new Set<string>();
  const lanes = new Set<string | null>();
  const sorted = { first: [] as One[], rest: [] as One[], alone: [] as One[] };
  for (const one of all) {
    // A job that was cancelled and retried before its admission has two rows, and takes one place.
    const names = [one.job.id, ...uniqueNameOf(one).map((name) => JSON.stringify(name)), ...keyNamesOf(one)];
    const lane = JSON.stringify([one.row.tenant, one.row.lane]);
    const waits = lanes.has(lane) || names.some((name) => seen.has(name));
    const place = waits ? "rest" : isFree(one) ? "first" : "alone";
    sorted[place].push(one);
    for (const name of names) seen.add(name);
    if (place !== "first") lanes.add(lane);
  }
  return sorted;
}

function outcomesOf({ makes, joins }: Plan, oneOf: ReadonlyMap<Draft, One>, done: AppliedSubmissions) {
  const outcomes = new Map<Draft, EnqueueOutcome>();
  for (const { draft } of makes) {
    const made = done.made.get(draft.id);
    const job = oneOf.get(draft)?.job;
    if (!made || !job) continue;
    const admitted = { ...job, status: made.status, updated_at: done.created_at, ...nothingLarge };
    outcomes.set(draft, { kind: "created", job: admitted });
  }
  for (const one of joins) {
    const job = holderAfter(one, done);
    if (job) outcomes.set(one.draft, joined(one, job, done));
  }
  return outcomes;
}
const nothingLarge = { payload: {}, result: null, progress: null, last_error: null };

const stepOf = (draft: Draft, role: Step["role"], key_ttl_seconds: number, reason?: string): Step => ({
  draft,
  role,
  names: draft.id,
  key_ttl_seconds,
  reason,
});

/** Why a job ends when another one is the answer to it, as its `last_error` says. */
function reasonOf({ joins }: Plan, { draft, names }: Step): string {
  const replaces = joins.find((one) => one.draft === draft)?.replaces ?? false;
  if (replaces) return `Duplicate: job ${names} already holds this unique key, and was replaced by the newest request.`;
  return `Duplicate: job ${names} already holds this unique key.`;
}

function refusalOf(key: string | null, outcome: EnqueueOutcome): string {
  if (outcome.kind === "conflict") return `UniqueConflict: the job ${outcome.job_id} has the same unique key`;
  if (outcome.kind === "mismatch")
    return `IdempotencyMismatch: the key ${JSON.stringify(key)} was used for another job, which asks for something else`;
  const other = "job" in outcome ? outcome.job.id : "";
  return `IdempotencyReplayed: the job ${other} was made with the key ${JSON.stringify(key)} before`;
}

const asksOf = ({ payload }: OutboxRow) => (payload ?? {}) as Asks;

function uniqueNameOf({ job: { tenant, queue, pending }, asks: { unique_key } }: One): UniqueName[] {
  return pending && unique_key !== undefined ? [{ tenant, queue, key: unique_key }] : [];
}
const keyNamesOf = ({ draft }: One) => (draft.key === null ? [] : [keyName(draft)]);

/** What it asks for, without its payload: the statement takes that from its row. */
function draftOf(job: KnownJob, asks: Asks): Draft {
  const { on_conflict, window_seconds, idempotency_key, request_hash } = asks;
  const terms =
    window_seconds === undefined ? { scope: "active" as const } : { scope: "window" as const, window_seconds };
  const request: SubmitJob = {
    type: job.type,
    queue: job.queue,
    payload: {},
    priority: job.priority,
    max_attempts: job.max_attempts,
    ...(job.timeout_seconds !== null && { timeout_seconds: job.timeout_seconds }),
    ...(job.group_key !== null && { group: job.group_key }),
    ...(job.backoff !== null && { backoff: job.backoff }),
    ...(job.retention_seconds !== null && { retention_seconds: job.retention_seconds }),
    ...(job.result_ttl_seconds !== null && { result_ttl_seconds: job.result_ttl_seconds }),
    ...(on_conflict !== undefined && { unique: { ...terms, on_conflict } }),
  };
  const { id, tenant, traceparent, tracestate } = job;
  const trace = traceparent === null ? undefined : { traceparent, tracestate };
  return { id, tenant, request, payload: "{}", key: idempotency_key ?? null, hash: request_hash ?? "", trace };
}

const readText = composed(
  "submit/read-pending",
  ["ids"],
  `
  SELECT ${knownColumns}, group_seq IS NOT DISTINCT FROM 0 AS pending,
         (SELECT true FROM atlasqueue.flow_edges WHERE child = jobs.id LIMIT 1) IS NOT NULL AS waits,
         group_key IS NULL OR (SELECT true FROM atlasqueue.job_groups AS one WHERE ${sameGroup("one", "jobs")} LIMIT 1) IS NULL
           OR ${groupIsFree("jobs")} AS group_is_free
  FROM atlasqueue.jobs WHERE id = ANY($1::uuid[])`,
);
