import type { Unique } from "@atlasqueue/contract";
import type { JobRow } from "../database/schema.ts";
import { uniqueKeyOf, uniqueVerdict } from "../policy/uniqueness.ts";
import type { HeldKey, UniqueName } from "../queries/find-key-holders.ts";
import type { EnqueueOutcome } from "./enqueue-outcome.ts";
import type { Draft } from "./insert-jobs.ts";

/** A unique key of the call, and who holds it: a job that is stored, or one that is made now. */
export type Slot = {
  name: UniqueName;
  /** The job that the key named when it was looked at; null when it named none. */
  seen: string | null;
  window_over: boolean | null;
  job: JobRow | undefined;
  make: Make | undefined;
  /** What the stored job is to become. */
  replacement: Draft | undefined;
};
/** A job to be made. `content` is that of a later draft of the call that replaces it. */
export type Make = { draft: Draft; content: Draft; slot: Slot | undefined };
/** A draft that is answered with the job of a slot. */
export type Join = { draft: Draft; slot: Slot; replaces: boolean };
export type Plan = { makes: Make[]; joins: Join[]; refused: Map<Draft, EnqueueOutcome> };

/** The unique key that a draft asks for. */
export function uniqueNameOf({ tenant, request, payload }: Draft): UniqueName {
  return { tenant, queue: request.queue, key: uniqueKeyOf(request, payload) };
}

/**
 * What is to be done about drafts, by what their unique keys named a moment ago; in their order, as a later one meets
 * the job of an earlier one. When they have `arrived`, and so are jobs with ids of their own already, it is the later
 * one that goes on.
 */
export function planUnique(
  drafts: readonly Draft[],
  names: ReadonlyMap<Draft, UniqueName>,
  held: readonly HeldKey[],
  arrived: boolean,
): Plan {
  const byName = new Map(held.map((one) => [textOf(one), one]));
  const slots = new Map<string, Slot>();
  const slotOf = (draft: Draft): Slot | undefined => {
    const name = names.get(draft);
    if (!name) return undefined;
    const known = slots.get(textOf(name));
    if (known) return known;
    const { job_id, window_over = null, job } = byName.get(textOf(name)) ?? {};
    const slot = { name, seen: job_id ?? null, window_over, job, make: undefined, replacement: undefined };
    slots.set(textOf(name), slot);
    return slot;
  };
  const plan: Plan = { makes: [], joins: [], refused: new Map() };
  for (const draft of drafts) take(plan, draft, slotOf(draft), arrived);
  return plan;
}

function take(plan: Plan, draft: Draft, slot: Slot | undefined, arrived: boolean): void {
  const make = (): Make => {
    const made = { draft, content: draft, slot };
    plan.makes.push(made);
    return made;
  };
  if (!slot) return void make();
  const unique = draft.request.unique as Unique;
  const verdict = uniqueVerdict(holderOf(slot), unique, draft.request.group ?? null);
  switch (verdict) {
    case "take":
      slot.make = make();
      slot.window_over = unique.scope === "window" ? false : null;
      return;
    case "reject":
      plan.refused.set(draft, { kind: "conflict", job_id: holderIdOf(slot) });
      return;
    case "return":
      plan.joins.push({ draft, slot, replaces: false });
      return;
    case "replace":
      if (!slot.make) slot.replacement = draft;
      else if (!arrived) slot.make.content = draft;
      else {
        plan.joins.push({ draft: slot.make.draft, slot, replaces: true });
        Object.assign(slot.make, { draft, content: draft });
        return;
      }
      plan.joins.push({ draft, slot, replaces: true });
      return;
    default:
      verdict satisfies never;
  }
}

function holderOf({ make, job, window_over }: Slot) {
  if (make) return { status: "queued" as const, group: make.draft.request.group ?? null, window_over };
  return job && { status: job.status, group: job.group_key, window_over };
}

export const holderIdOf = ({ make, job }: Slot): string => make?.draft.id ?? job?.id ?? "";
const textOf = ({ tenant, queue, key }: UniqueName) => JSON.stringify([tenant, queue, key]);
