import type { JobRow } from "../../database/schema/index.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { findKeyHolders, type UniqueName } from "../find-key-holders.ts";
import { carryOut, type CarriedOut, type Step } from "../carry-out.ts";
import { hasKey, keyName, settleConflicts } from "../idempotency.ts";
import { reportEnqueued, type EnqueueOutcome } from "../outcome.ts";
import { holderAfter, joined, stepsOf } from "../unique/enqueue.ts";
import { forgetSpentKeys } from "../../maintenance/forget-spent-keys.ts";
import type { Draft } from "../insert-jobs.ts";
import { planUnique, type Plan } from "../unique/plan.ts";
import { DatabaseTimeoutError, isLocked } from "../../database/errors.ts";
import { isTakenMeanwhile } from "../../database/refuse.ts";
import { heldAmong, nameOf } from "../held.ts";
import { draftOf, groupOf, readArrived, wantedBy, type ArrivedRow } from "./arrived-rows.ts";

/**
 * `outcomes` are those of the jobs that were admitted or ended: signal them; `released` are the ids of those that are no new jobs, but waited
 * for others before. `ended` are the ids of those that ended
 * because another job is the answer to them. `left` are the ids to look at again, each with its group, and `held` the
 * jobs that were passed over.
 */
export type Admitted = {
  outcomes: EnqueueOutcome[];
  released: ReadonlySet<string>;
  ended: string[];
  left: ReadonlyMap<string, string | undefined>;
  held: ArrivedJob[];
};

/** A job that waits to be admitted. */
export type ArrivedJob = { id: string; tenant: string };

/**
 * What is passed over, by its name: groups and unique keys that others have locked, and groups of which a job was passed
 * over, as no job overtakes another one of its group that waits for a lock.
 */
export type PassedOver = Set<string>;

/**
 * blocked, as an arrival → queued | scheduled | blocked in its place, or cancelled: jobs that came in with their
 * callers' transactions get their keys, their places in their groups and their signals. A job whose key turns out to be
 * another's ends here, and its `last_error` names that one. A look and a statement; what another process is admitting at
 * the moment is skipped.
 *
 * No job is admitted that wants what is in `passed_over`. Unless it `waits`, the look adds what it finds locked to that,
 * and the statement throws when it would have to wait for what no look can see (`isLocked`), or passes over its only job.
 * In a busy group it must wait: each look could meet another statement's lock.
 *
 * A key of one that is taken between look and statement undoes all of it when another of its group is behind it; never
 * when it is `careful`, which takes more looks.
 *
 * @example
 * const { outcomes, left } = await admit(deps, ids);
 */
export async function admit(
  deps: Deps,
  ids: readonly string[],
  { passed_over, waits }: { passed_over: PassedOver; waits: boolean } = { passed_over: new Set(), waits: true },
  careful = false,
): Promise<Admitted> {
  const execute = executeOn(deps.database);
  const all = await readArrived(execute, ids);
  const passOver = (names: Iterable<string | undefined>) => {
    for (const name of names) if (name !== undefined) passed_over.add(name);
  };
  if (!waits) passOver(await heldAmong(execute, all.flatMap(wantedBy)));
  const isPassedOver = (row: ArrivedRow) => wantedBy(row).some((one) => passed_over.has(nameOf(one)));
  const rows: ArrivedRow[] = [];
  const held: ArrivedJob[] = [];
  for (const row of all)
    if (row.asks.waits && isPassedOver(row)) {
      passOver([groupOf(row)]);
      held.push(row);
    } else rows.push(row);
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const drafts = rows.map(draftOf);
  const waiting = drafts.filter(({ id }) => rowOf.get(id)?.asks.waits);
  const names = new Map(waiting.flatMap((one) => uniqueNameOf(one, rowOf.get(one.id)?.asks.unique_key ?? null)));
  const known = await findKeyHolders(execute, drafts.filter(hasKey), [...names.values()]);
  await forgetSpentKeys(execute, known.spent);

  const outcomes = new Map<Draft, EnqueueOutcome>();
  settleConflicts(waiting, known.keyed, outcomes);
  const open = waiting.filter((one) => !outcomes.has(one));
  const plan = planUnique(open, names, known.held, { arrived: true, careful });
  for (const [one, outcome] of plan.refused) outcomes.set(one, outcome);

  const named = new Set(known.keyed.map(keyName));
  const ttlOf = ({ id }: Draft) => rowOf.get(id)?.asks.key_ttl_seconds ?? 0;
  const keyAsNoted = (one: Draft) => (named.has(keyName(one)) ? null : one.key);
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
  if (steps.length === 0) return { outcomes: [], released, ended: [], left: new Map(), held };
  const done = await carryOut(execute, steps, "admit", { impatient: !waits }).catch((error: unknown) => {
    if (isTakenMeanwhile(error)) return undefined;
    const [alone] = steps.length === 1 ? rows.filter(({ id }) => id === steps[0]?.draft.id) : [];
    if (alone && (isLocked(error) || error instanceof DatabaseTimeoutError)) passOver(wantedBy(alone).map(nameOf));
    if (!alone || waits || !isLocked(error)) throw error;
    held.push(alone);
    return undefined;
  });
  const tried = new Set(steps.map(({ draft }) => draft.id));
  const again = rows.filter((row) => !held.includes(row) && (!done || done.lost.has(row.id) || !tried.has(row.id)));
  const left = new Map(again.map((row) => [row.id, groupOf(row)]));
  if (!done) return { outcomes: [], released, ended: [], left, held };
  for (const [one, outcome] of outcomesOf(plan, rowOf, done)) outcomes.set(one, outcome);
  const settled = [...outcomes].filter(([{ id }]) => !done.lost.has(id));
  for (const [{ id, tenant, request, trace }, outcome] of settled)
    if (!released.has(id)) reportEnqueued(deps.observe, { tenant, request, trace }, outcome);
  return {
    released,
    outcomes: settled.map(([, outcome]) => outcome),
    ended: settled.filter(([, { kind }]) => kind !== "created").map(([{ id }]) => id),
    left,
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

const uniqueNameOf = (one: Draft, key: string | null): [Draft, UniqueName][] =>
  key === null ? [] : [[one, { tenant: one.tenant, queue: one.request.queue, key }]];
