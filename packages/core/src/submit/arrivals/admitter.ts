import { DatabaseTimeoutError, isLocked, isUnavailable } from "../../database/errors.ts";
import type { Deps } from "../../deps.ts";
import { pause } from "../../pause.ts";
import { arrivedByGroup, arrivedUpTo, jobs_max } from "./arrived-ids.ts";
import { newArrivalsCursor, newRound, type ArrivalsCursor } from "./arrivals-round.ts";
import { admit, type Admitted, type ArrivedJob, type PassedOver } from "./admit.ts";

/** `admitted` is what follows the commit. */
export type AdmitterDeps = Deps & {
  followUps: { admitted(admitted: Pick<Admitted, "outcomes" | "released" | "ended">): Promise<void> };
};

/** Statements in one go, leaving a sweep time for its other duties. */
const rounds_max = 50;
/** Others may take some of the keys between our look and our statement, again and again. */
const tries_max = 5;
/** Each settles one of those of a group that meet each other's keys; others' pages wait meanwhile. */
const looks_max = 25;
const rest_ms_max = 20;
/** As many halvings as it takes to get from a page to one job, and a few more. */
const late_in_a_row_max = 12;

/**
 * Admit the jobs that arrived with callers' transactions, and signal them: the safety net for `admitThese`. One that
 * cannot be admitted now holds up none of the others: what one call does not get to, the next one with the same cursor
 * begins with. Tenants take turns. Waits for no group and no key that somebody has locked: `held` are the jobs that want
 * one.
 */
export async function admitAll(
  deps: AdmitterDeps,
  cursor: ArrivalsCursor = newArrivalsCursor(),
  pages_max = rounds_max,
): Promise<{ admitted: number; held: ArrivedJob[] }> {
  const walk = newWalk(false);
  const round = newRound(deps, cursor);
  let admitted = 0;
  let rest: string[] = [];
  for (let page = 0; page < pages_max; page += 1) {
    // Even when these fail: what follows them comes next.
    if (rest.length === 0) rest = await round();
    if (rest.length === 0) break;
    const next = await admitNext(deps, rest, walk);
    admitted += next.admitted;
    rest = next.rest;
  }
  walk.failures.tell();
  return { admitted, held: [...walk.held.values()] };
}

/** Admit jobs whose transactions have committed, after those ahead of them in their groups. Last, those that want what is locked. */
export async function admitThese(deps: AdmitterDeps, ids: readonly string[]): Promise<void> {
  const walk = newWalk(false);
  for (let from = 0; from < ids.length; from += jobs_max)
    await admitInOrder(deps, ids.slice(from, from + jobs_max), walk);
  walk.failures.tell();
  await admitHeld(deps, [...walk.held.keys()]);
}

/**
 * The same for a page of such jobs, without waiting for what is locked. `held` are those that want that, and `rest` the ids
 * of those that it has not come to, as others were ahead of them.
 */
export async function admitFree(
  deps: AdmitterDeps,
  ids: readonly string[],
): Promise<{ held: ArrivedJob[]; rest: string[] }> {
  const walk = newWalk(false);
  const { rest } = await admitNext(deps, ids, walk);
  walk.failures.tell();
  return { held: [...walk.held.values()], rest };
}

/**
 * The same for jobs that want what is locked: it waits for that as long as a statement may, once for each group, and for
 * one at a time, as a statement that waits has locked all it came to before.
 */
export async function admitHeld(deps: AdmitterDeps, ids: readonly string[]): Promise<void> {
  const walk = newWalk(true);
  const groups = ids.length > 0 ? await arrivedByGroup(deps, ids) : [];
  for (const ofGroup of groups) await admitInOrder(deps, ofGroup, { ...walk });
  walk.failures.tell();
}

async function admitInOrder(deps: AdmitterDeps, ids: readonly string[], walk: Walk): Promise<void> {
  let rest = ids;
  for (let round = 0; round < rounds_max && rest.length > 0; round += 1) ({ rest } = await admitNext(deps, rest, walk));
}

/** A page of them, and of those ahead of them in their groups. `rest` are the ids that it has not come to. */
async function admitNext(
  deps: AdmitterDeps,
  ids: readonly string[],
  walk: Walk,
): Promise<{ admitted: number; rest: string[] }> {
  const page = await arrivedUpTo(deps, ids);
  const admitted = await admitPage(deps, page.ids, walk);
  if (!page.more) return { admitted, rest: [] };
  const seen = new Set(page.ids);
  const rest = ids.filter((id) => !seen.has(id));
  if (admitted > 0) return { admitted, rest };
  // The first ones are stuck, and their groups are passed over.
  return { admitted: await admitPage(deps, rest, walk), rest: [] };
}

/** A page that fails is halved, down to the job at fault: that one is skipped, and holds up none of the others. */
async function admitPage(deps: AdmitterDeps, ids: readonly string[], walk: Walk): Promise<number> {
  if (ids.length === 0) return 0;
  try {
    const admitted = await admitTogether(deps, ids, walk);
    walk.failures.succeeded();
    return admitted;
  } catch (error) {
    if (walk.waits || !isLocked(error)) walk.failures.note(error);
    if (error instanceof DatabaseTimeoutError) {
      // Not a deadline for each half: what it waited for is passed over now.
      walk.waits = false;
      // And so would all be that the late statement still has locked.
      await error.isOver(deps.database.timeout_ms);
    }
    if (ids.length <= 1) return 0;
    const middle = Math.ceil(ids.length / 2);
    return (await admitPage(deps, ids.slice(0, middle), walk)) + (await admitPage(deps, ids.slice(middle), walk));
  }
}

/** `held` are the jobs that it passed over, by their ids, for what is in `passed_over`. */
type Walk = { failures: Failures; passed_over: PassedOver; waits: boolean; held: Map<string, ArrivedJob> };
const newWalk = (waits: boolean): Walk => ({
  failures: createFailures(),
  passed_over: new Set(),
  waits,
  held: new Map(),
});

type Failures = ReturnType<typeof createFailures>;

/**
 * Tells a job that cannot be admitted from a database that is away: in the latter case halving finds nothing, and the
 * walk ends.
 */
function createFailures() {
  let late_in_a_row = 0;
  let first: { error: unknown } | undefined;
  return {
    succeeded: () => void (late_in_a_row = 0),
    note(error: unknown): void {
      const late = error instanceof DatabaseTimeoutError;
      late_in_a_row = late ? late_in_a_row + 1 : 0;
      if ((isUnavailable(error) && !late) || late_in_a_row > late_in_a_row_max) throw error;
      first ??= { error };
    },
    /** Throws the first failure, once everything that could be admitted was. */
    tell(): void {
      if (first) throw first.error;
    },
  };
}

async function admitTogether(deps: AdmitterDeps, ids: readonly string[], walk: Walk): Promise<number> {
  let left: Admitted["left"] = new Map(ids.map((id) => [id, undefined]));
  let held = 0;
  let in_vain = 0;
  for (let looks = 0; looks < looks_max && in_vain < tries_max && left.size > 0; looks += 1) {
    if (in_vain > 0) await pause(rest_ms_max * Math.random());
    const before = left.size;
    const admitted = await admit(deps, [...left.keys()], walk, in_vain > 0);
    await deps.followUps.admitted(admitted);
    for (const { id, tenant } of admitted.held) walk.held.set(id, { id, tenant });
    held += admitted.held.length;
    left = admitted.left;
    in_vain = left.size < before ? 0 : in_vain + 1;
  }
  for (const group of left.values()) if (group !== undefined) walk.passed_over.add(group);
  return ids.length - left.size - held;
}
