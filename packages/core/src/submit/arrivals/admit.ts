import type { SubmitJob, Unique } from "@atlasqueue/contract";
import { uuidArray } from "../../database/literals.ts";
import type { JobRow } from "../../database/schema/index.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { findKeyHolders, type UniqueName } from "../find-key-holders.ts";
import { carryOut, type CarriedOut, type Step } from "../carry-out.ts";
import { hasKey, oncePerKey, settleConflicts } from "../idempotency.ts";
import { reportEnqueued, type EnqueueOutcome } from "../outcome.ts";
import { holderAfter, joined, stepsOf } from "../unique/enqueue.ts";
import { forgetSpentKeys } from "../../maintenance/forget-spent-keys.ts";
import type { Draft } from "../insert-jobs.ts";
import { planUnique, type Plan } from "../unique/plan.ts";
import { isTakenMeanwhile } from "../../database/refuse.ts";

/**
 * `outcomes` are those of the jobs that were admitted or ended: signal them; `released` are the ids of those that are no new jobs, but waited
 * for others before. `ended` are the ids of those that ended
 * because another job is the answer to them. `left` are the ids to look at again, and `held` those whose groups another
 * transaction has locked.
 */
export type Admitted = {
  outcomes: EnqueueOutcome[];
  released: ReadonlySet<string>;
  ended: string[];
  left: string[];
  held: string[];
};

/** Groups, by their names, that another transaction has locked. */
export type HeldGroups = Set<string>;

/**
 * blocked, as an arrival → queued | scheduled | blocked in its place, or cancelled: jobs that came in with their
 * callers' transactions get their keys, their places in their groups and their signals. A job whose key turns out to be
 * another's ends here, and its `last_error` names that one. A look and a statement; what another process is admitting at
 * the moment is skipped.
 *
 * Given `held_groups`, no job of a group in it is admitted, nor of one that the look finds locked, which is added to it.
 * Without, the statement waits for such a group. In a busy group it must: each look could meet another statement's lock.
 *
 * @example
 * const { outcomes, left } = await admit(deps, await arrivedIds(deps, firstId, 500));
 */
export async function admit(deps: Deps, ids: readonly string[], held_groups?: HeldGroups): Promise<Admitted> {
  const execute = executeOn(deps.database);
  const all = await execute<ArrivedRow>({ text: arrived, params: [uuidArray(ids), held_groups ? 1 : 0] });
  for (const row of all) if (row.asks.held) held_groups?.add(groupOf(row));
  const isHeld = (row: ArrivedRow) => row.asks.waits && (held_groups?.has(groupOf(row)) ?? false);
  const rows = all.filter((row) => !isHeld(row));
  const held = all.filter(isHeld).map(({ id }) => id);
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const drafts = rows.map(draftOf);
  const waiting = drafts.filter(({ id }) => rowOf.get(id)?.asks.waits);
  const names = new Map(waiting.flatMap((one) => uniqueNameOf(one, rowOf.get(one.id)?.asks.unique_key ?? null)));
  const known = await findKeyHolders(execute, drafts.filter(hasKey), [...names.values()]);
  await forgetSpentKeys(execute, known.spent);

  const outcomes = new Map<Draft, EnqueueOutcome>();
  settleConflicts(waiting, known.keyed, outcomes);
  // One of those sharing a key; the others meet it at the next look.
  const open = oncePerKey(waiting.filter((one) => !outcomes.has(one)));
  const plan = planUnique(open, names, known.held, true);
  for (const [one, outcome] of plan.refused) outcomes.set(one, outcome);

  const named = new Set(known.keyed.map(nameOf));
  const ttlOf = ({ id }: Draft) => rowOf.get(id)?.asks.key_ttl_seconds ?? 0;
  const keyAsNoted = (one: Draft) => (named.has(nameOf(one)) ? null : one.key);
  const steps: Step[] = [
    ...stepsOf(plan, ttlOf).map((one) => (one.role === "join" ? { ...one, reason: reasonOf(plan, one) } : one)),
    // A refused one's key is another's, or stays free.
    ...[...outcomes].map(([one, outcome]) => stepOf({ ...one, key: null }, "join", 0, refusalOf(one, outcome))),
    // Cancelled before it was admitted. Its key still stands for it.
    ...drafts
      .filter(({ id }) => !rowOf.get(id)?.asks.waits)
      .map((one) => stepOf({ ...one, key: keyAsNoted(one) }, "note", ttlOf(one))),
  ];
  const released = new Set(rows.filter(({ asks }) => asks.released).map(({ id }) => id));
  if (steps.length === 0) return { outcomes: [], released, ended: [], left: [], held };
  const done = await carryOut(execute, steps, "admit").catch((error: unknown) => {
    if (isTakenMeanwhile(error)) return undefined;
    throw error;
  });
  const tried = new Set(steps.map(({ draft }) => draft.id));
  const left = drafts.filter(({ id }) => !done || done.lost.has(id) || !tried.has(id));
  if (!done) return { outcomes: [], released, ended: [], left: left.map(({ id }) => id), held };
  for (const [one, outcome] of outcomesOf(plan, rowOf, done)) outcomes.set(one, outcome);
  const settled = [...outcomes].filter(([{ id }]) => !done.lost.has(id));
  for (const [{ id, tenant, request, trace }, outcome] of settled)
    if (!released.has(id)) reportEnqueued(deps.observe, { tenant, request, trace }, outcome);
  return {
    released,
    outcomes: settled.map(([, outcome]) => outcome),
    ended: settled.filter(([, { kind }]) => kind !== "created").map(([{ id }]) => id),
    left: left.map(({ id }) => id),
    held,
  };
}

function outcomesOf({ makes, joins }: Plan, rowOf: ReadonlyMap<string, ArrivedRow>, done: CarriedOut) {
  const outcomes = new Map<Draft, EnqueueOutcome>();
  const admitted = (id: string): JobRow | undefined => {
    const row = rowOf.get(id);
    const made = done.made.get(id);
    if (!row || !made) return undefined;
    const { asks: _asks, ...job } = row;
    return { ...job, status: made.status, updated_at: done.created_at };
  };
  for (const { draft } of makes) {
    const job = admitted(draft.id);
    if (job) outcomes.set(draft, { kind: "created", job });
  }
  for (const one of joins) {
    const job = one.slot.make ? admitted(one.slot.make.draft.id) : holderAfter(one, done);
    if (job) outcomes.set(one.draft, joined(one, job, done));
  }
  return outcomes;
}

const groupOf = ({ tenant, queue, group_key }: ArrivedRow) => JSON.stringify([tenant, queue, group_key]);
const nameOf = ({ tenant, key }: { tenant: string; key: string | null }) => `${tenant} ${key}`;
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
  if (replaces) return `UniqueReplaced: the job ${names} has the same unique key and does what the newest request said`;
  return `UniqueConflict: the job ${names} has the same unique key and stands for this one`;
}

function refusalOf({ key }: Draft, outcome: EnqueueOutcome): string {
  if (outcome.kind === "conflict") return `UniqueConflict: the job ${outcome.job_id} has the same unique key`;
  if (outcome.kind === "mismatch")
    return `IdempotencyMismatch: the key ${JSON.stringify(key)} was used for another job, which asks for something else`;
  const other = "job" in outcome ? outcome.job.id : "";
  return `IdempotencyReplayed: the job ${other} was made with the key ${JSON.stringify(key)} before`;
}

type ArrivedRow = JobRow & { asks: Asks };
type Asks = {
  /** False when it was cancelled before it was admitted. */
  waits: boolean;
  /** It was submitted long ago, and waited for other jobs until now. */
  released: boolean;
  /** Another transaction has locked its group. */
  held: boolean;
  payload: string | null;
  unique_key: string | null;
  on_conflict: Unique["on_conflict"] | null;
  window_seconds: number | null;
  key: string | null;
  hash: string | null;
  key_ttl_seconds: number | null;
};

/** The request as the row has it: what a newer job replaces an older one with comes from here too. */
function draftOf(row: ArrivedRow): Draft {
  const { on_conflict, window_seconds, payload, key, hash } = row.asks;
  const terms = window_seconds === null ? { scope: "active" as const } : { scope: "window" as const, window_seconds };
  const request: SubmitJob = {
    type: row.type,
    queue: row.queue,
    payload: row.payload,
    priority: row.priority,
    max_attempts: row.max_attempts,
    run_at: row.run_at.toISOString(),
    ...(row.timeout_seconds !== null && { timeout_seconds: row.timeout_seconds }),
    ...(row.group_key !== null && { group: row.group_key }),
    ...(row.backoff !== null && { backoff: row.backoff }),
    ...(on_conflict !== null && { unique: { ...terms, on_conflict } }),
  };
  const { traceparent, tracestate } = row;
  const trace = traceparent === null ? undefined : { traceparent, tracestate };
  return { id: row.id, tenant: row.tenant, request, payload: payload ?? "null", key, hash: hash ?? "", trace };
}

const uniqueNameOf = (one: Draft, key: string | null): [Draft, UniqueName][] =>
  key === null ? [] : [[one, { tenant: one.tenant, queue: one.request.queue, key }]];

// The payload as it was sent, for those that may replace another. What is locked here is free again with the answer: it
// only tells whether somebody else holds it.
const arrived = `
  SELECT jobs.*, json_build_object(
    'waits', jobs.blocked_seq IS NOT DISTINCT FROM 0,
    'released', EXISTS (SELECT FROM flow_jobs WHERE flow_jobs.job_id = jobs.id AND json_array_length(parents) > 0), 'payload', CASE WHEN on_conflict = 'replace' THEN payload::text END,
    'held', known.exists IS DISTINCT FROM part.free, 'unique_key', unique_key, 'on_conflict', on_conflict, 'window_seconds', window_seconds, 'key', idempotency_key,
    'hash', encode(request_hash, 'hex'), 'key_ttl_seconds', key_ttl_seconds) AS asks
  FROM arrivals JOIN jobs ON jobs.id = arrivals.job_id
  LEFT JOIN LATERAL (
    SELECT true AS exists FROM job_groups AS known
    WHERE $2::int = 1 AND (known.tenant, known.queue, known.group_key) = (jobs.tenant, jobs.queue, jobs.group_key)
    OFFSET 0) AS known ON true
  LEFT JOIN LATERAL (
    SELECT true AS free FROM job_groups AS known
    WHERE $2::int = 1 AND (known.tenant, known.queue, known.group_key) = (jobs.tenant, jobs.queue, jobs.group_key)
    FOR NO KEY UPDATE SKIP LOCKED) AS part ON true
  WHERE arrivals.job_id = ANY($1::uuid[]) ORDER BY arrivals.job_id`;
