import type { Unique } from "@atlasqueue/contract";
import type { JobRow } from "../database/schema.ts";
import type { Execute } from "../database/statement.ts";
import { uniqueKeyOf, uniqueVerdict } from "../policy/uniqueness.ts";
import { findByIdempotencyKeys } from "../queries/find-by-idempotency-keys.ts";
import { hasKey, newRow, oncePerKey, settleConflicts } from "./drafts.ts";
import type { EnqueueOutcome } from "./enqueue-outcome.ts";
import {
  findHolders,
  giveUniqueKeys,
  letGoUniqueKeys,
  lockUniqueKeys,
  type Taker,
  type UniqueName,
} from "./hold-unique-keys.ts";
import { insertJobs, type Draft, type InsertOptions } from "./insert-jobs.ts";
import { noteIdempotencyKeys, type NotedKey } from "./note-idempotency-keys.ts";
import { replaceJob } from "./replace-job.ts";

/** A key may be taken by a neighbour's request between our look and our INSERT; then it is looked at again. */
const rounds_max = 3;

/** A unique key of the call: who holds it now, a job that is stored or one that this call makes. */
type Slot = {
  name: UniqueName;
  placeholder: string;
  job: JobRow | undefined;
  draft?: Draft;
  window_over: boolean | null;
};
type Outcomes = Map<Draft, EnqueueOutcome>;
/** A draft that is answered with another job. */
type Join = { draft: Draft; slot: Slot; to: JobRow | Draft; replaces: boolean };

/**
 * `enqueue` for calls in which jobs ask to be unique: some statements in one transaction, which must be `execute`'s. The
 * rows of their unique keys are locked first, so who wants the same key waits for our commit and sees our job then.
 * Idempotency keys come before uniqueness: one that was used gets the answer it had.
 */
export async function enqueueUnique(
  execute: Execute,
  drafts: readonly Draft[],
  options: InsertOptions,
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  const slots = await lockSlots(execute, drafts, options);
  for (let round = 0; round < rounds_max; round += 1) {
    const open = drafts.filter((one) => !outcomes.has(one));
    if (open.length === 0) break;
    settleConflicts(open, await findByIdempotencyKeys(execute, open.filter(hasKey)), outcomes);
    const first = oncePerKey(open.filter((one) => !outcomes.has(one)));
    const { makes, joins } = plan(first, slots, outcomes);
    if (makes.length > 0) await make(execute, makes, slots, options, outcomes);
    await join(execute, joins, options, outcomes);
  }
  const unused = [...new Set(slots.values())].filter((slot) => !slot.job && !slot.draft);
  await letGoUniqueKeys(
    execute,
    unused.map(({ name, placeholder }) => ({ ...name, job_id: placeholder })),
  );
  return outcomes;
}

/** The slot of each draft that asks to be unique; drafts with the same key share one. */
async function lockSlots(
  execute: Execute,
  drafts: readonly Draft[],
  { waits_for_held_keys }: InsertOptions,
): Promise<Map<Draft, Slot>> {
  const wanted = new Map<string, Taker & { replaces: boolean }>();
  const names = new Map<Draft, string>();
  for (const draft of drafts) {
    const { unique, queue } = draft.request;
    if (!unique) continue;
    const name = { tenant: draft.tenant, queue, key: uniqueKeyOf(draft.request, draft.payload) };
    const before = wanted.get(textOf(name));
    const replaces = unique.on_conflict === "replace" || before?.replaces === true;
    wanted.set(textOf(name), { ...name, job_id: before?.job_id ?? draft.id, window_seconds: null, replaces });
    names.set(draft, textOf(name));
  }
  const held = await lockUniqueKeys(execute, [...wanted.values()], { patient: waits_for_held_keys ?? false });
  const holders = held.filter((one) => one.job_id !== wanted.get(textOf(one))?.job_id);
  const idsOf = (replaced: boolean) =>
    holders.filter((one) => wanted.get(textOf(one))?.replaces === replaced).map(({ job_id }) => job_id);
  const rows = [
    ...(await findHolders(execute, idsOf(true), true)),
    ...(await findHolders(execute, idsOf(false), false)),
  ];
  const byId = new Map(rows.map((row) => [row.id, row]));
  const slots = new Map<string, Slot>();
  for (const { job_id, window_over, ...name } of held) {
    const placeholder = wanted.get(textOf(name))?.job_id ?? "";
    slots.set(textOf(name), { name, placeholder, job: byId.get(job_id), window_over });
  }
  return new Map([...names].map(([draft, name]) => [draft, slots.get(name) as Slot]));
}

const textOf = ({ tenant, queue, key }: UniqueName) => JSON.stringify([tenant, queue, key]);

/** What is to be done, in the order of the drafts: a later one meets the job of an earlier one. */
function plan(drafts: readonly Draft[], slots: ReadonlyMap<Draft, Slot>, outcomes: Outcomes) {
  const makes: Draft[] = [];
  const joins: Join[] = [];
  for (const draft of drafts) {
    const slot = slots.get(draft);
    const to = slot && (slot.draft ?? slot.job);
    const verdict = slot
      ? uniqueVerdict(to && holderOf(slot, to), draft.request.unique as Unique, groupOf(draft))
      : "take";
    switch (verdict) {
      case "take":
        makes.push(draft);
        if (slot) Object.assign(slot, { draft, window_over: draft.request.unique?.scope === "window" ? false : null });
        break;
      case "reject":
        outcomes.set(draft, { kind: "conflict", job_id: to?.id ?? "" });
        break;
      case "return":
      case "replace":
        joins.push({ draft, slot: slot as Slot, to: to as JobRow | Draft, replaces: verdict === "replace" });
        // Not stored yet: it is stored as the newer request has it.
        if (verdict === "replace" && to && "request" in to)
          Object.assign(to, { request: { ...draft.request, unique: to.request.unique }, payload: draft.payload });
        break;
      default:
        verdict satisfies never;
    }
  }
  return { makes, joins };
}

const groupOf = (draft: Draft) => draft.request.group ?? null;

function holderOf({ window_over }: Slot, to: JobRow | Draft) {
  if ("request" in to) return { status: "queued" as const, group: groupOf(to), window_over };
  return { status: to.status, group: to.group_key, window_over };
}

async function make(
  execute: Execute,
  makes: readonly Draft[],
  slots: ReadonlyMap<Draft, Slot>,
  options: InsertOptions,
  outcomes: Outcomes,
): Promise<void> {
  const inserted = await insertJobs(execute, makes, options);
  const takers: Taker[] = [];
  for (const one of makes) {
    const slot = slots.get(one);
    const taken = inserted.taken.has(one.id);
    if (!taken) outcomes.set(one, { kind: "created", job: newRow(one, inserted) });
    if (slot?.draft !== one) continue;
    delete slot.draft;
    if (taken) continue;
    slot.job = newRow(one, inserted);
    takers.push({ ...slot.name, job_id: one.id, window_seconds: one.request.unique?.window_seconds ?? null });
  }
  await giveUniqueKeys(execute, takers);
}

/** Answers with other jobs. What a key stands for is noted before anything is replaced for its sake. */
async function join(
  execute: Execute,
  joins: readonly Join[],
  { idempotency_ttl_seconds }: InsertOptions,
  outcomes: Outcomes,
): Promise<void> {
  const ready = joins.flatMap((one) => {
    const row = rowOf(one.to, outcomes);
    return row ? [{ one, row, noted: { ...one.draft, job_id: row.id } }] : [];
  });
  const keyed = ready.flatMap(({ noted }) => (noted.key === null ? [] : [noted as NotedKey]));
  const taken = new Set<object>(await noteIdempotencyKeys(execute, keyed, idempotency_ttl_seconds));
  for (const { one, row, noted } of ready)
    if (!taken.has(noted)) outcomes.set(one.draft, await answer(execute, one, row));
}

/** A job that this call was to make is missing when its idempotency key was taken meanwhile. */
function rowOf(to: JobRow | Draft, outcomes: Outcomes): JobRow | undefined {
  if (!("request" in to)) return to;
  const outcome = outcomes.get(to);
  return outcome?.kind === "created" ? outcome.job : undefined;
}

async function answer(execute: Execute, { draft, slot, to, replaces }: Join, row: JobRow): Promise<EnqueueOutcome> {
  if (!replaces) return { kind: "existing", job: slot.job?.id === row.id ? slot.job : row };
  if ("request" in to) return { kind: "replaced", job: row, ready: false };
  const replaced = await replaceJob(execute, row.id, draft);
  if (!replaced) throw new Error("a job was started while its row was locked");
  const { job, was } = replaced;
  slot.job = job;
  return {
    kind: "replaced",
    job,
    ready: job.status === "queued" && (was !== "queued" || job.priority !== row.priority),
  };
}
