import { DatabaseTimeoutError, isLocked, isUnavailable } from "../../database/errors.ts";
import type { Deps } from "../../deps.ts";
import { pause } from "../../pause.ts";
import { arrivedAfter, arrivedByGroup, arrivedUpTo, type ArrivedPage } from "./arrived-ids.ts";
import { admit, type Admitted, type PassedOver } from "./admit.ts";
import { firstId } from "../../maintenance/prune.ts";

/** `admitted` is what follows the commit. */
export type AdmitterDeps = Deps & {
  followUps: { admitted(admitted: Pick<Admitted, "outcomes" | "released" | "ended">): Promise<void> };
};

const jobs_max = 200;
/** Statements in one go, leaving a sweep time for its other duties. */
const rounds_max = 50;
/** Others may take some of the keys between our look and our statement, again and again. */
const tries_max = 5;
const rest_ms_max = 20;
/** As many halvings as it takes to get from a page to one job, and a few more. */
const late_in_a_row_max = 12;

/** Where the next sweep goes on. */
export type ArrivalsCursor = { after: string };

/**
 * Admit the jobs that arrived with callers' transactions, and signal them: the safety net for `admitThese`. One that
 * cannot be admitted now holds up none of the others: what one call does not get to, the next one with the same cursor
 * begins with. Waits for no group and no key that somebody has locked: `held` are the ids of those that want one.
 */
export async function admitAll(
  deps: AdmitterDeps,
  cursor: ArrivalsCursor = { after: firstId },
  pages_max = rounds_max,
): Promise<{ admitted: number; held: string[] }> {
  const walk = newWalk(false);
  const began_after = cursor.after;
  let admitted = 0;
  let came_round = began_after === firstId;
  for (let page = 0; page < pages_max; page += 1) {
    const { after } = cursor;
    const { ids, more }: ArrivedPage = await arrivedAfter(deps, after, jobs_max);
    // Even when these fail: what follows them comes next.
    cursor.after = more ? (ids.at(-1) ?? firstId) : firstId;
    admitted += after === firstId ? await admitPage(deps, ids, walk) : await admitInOrder(deps, ids, walk);
    const is_back = !more || (began_after !== firstId && cursor.after >= began_after);
    if (came_round && is_back) break;
    came_round ||= !more;
  }
  walk.failures.tell();
  return { admitted, held: [...walk.held] };
}

/** Admit jobs whose transactions have committed, after those ahead of them in their groups. Last, those that want what is locked. */
export async function admitThese(deps: AdmitterDeps, ids: readonly string[]): Promise<void> {
  await admitHeld(deps, await admitFree(deps, ids));
}

/** The same, but without waiting for what is locked. Returns the ids of jobs that want such a group or key. */
export async function admitFree(deps: AdmitterDeps, ids: readonly string[]): Promise<string[]> {
  const walk = newWalk(false);
  for (let from = 0; from < ids.length; from += jobs_max)
    await admitInOrder(deps, ids.slice(from, from + jobs_max), walk);
  walk.failures.tell();
  return [...walk.held];
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

/** Jobs of their groups that were made before them may have come in since the cursor was there. */
async function admitInOrder(deps: AdmitterDeps, ids: readonly string[], walk: Walk): Promise<number> {
  let total = 0;
  for (let round = 0; round < rounds_max; round += 1) {
    const page = await arrivedUpTo(deps, ids, jobs_max);
    const admitted = page.ids.length === 0 ? 0 : await admitPage(deps, page.ids, walk);
    total += admitted;
    if (!page.more) return total;
    if (admitted > 0) continue;
    // The first ones are stuck, and their groups are passed over.
    const rest = ids.filter((id) => !page.ids.includes(id));
    return total + (await admitPage(deps, rest, walk));
  }
  return total;
}

/** A page that fails is halved, down to the job at fault: that one is skipped, and holds up none of the others. */
async function admitPage(deps: AdmitterDeps, ids: readonly string[], walk: Walk): Promise<number> {
  if (ids.length === 0) return 0;
  try {
    const admitted = await admitTogether(deps, ids, walk);
    walk.failures.succeeded();
    return admitted;
  } catch (error) {
    const is_held = !walk.waits && isLocked(error);
    if (!is_held) walk.failures.note(error);
    if (is_held && ids.length === 1) walk.held.add(ids[0] ?? "");
    // Not a deadline for each half: what it waited for is passed over now.
    if (error instanceof DatabaseTimeoutError) walk.waits = false;
    if (ids.length <= 1) return 0;
    const middle = Math.ceil(ids.length / 2);
    return (await admitPage(deps, ids.slice(0, middle), walk)) + (await admitPage(deps, ids.slice(middle), walk));
  }
}

/** `held` are the ids of jobs that it passed over, for what is in `passed_over`. */
type Walk = { failures: Failures; passed_over: PassedOver; waits: boolean; held: Set<string> };
const newWalk = (waits: boolean): Walk => ({
  failures: createFailures(),
  passed_over: new Set(),
  waits,
  held: new Set(),
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
  for (let attempt = 0; attempt < tries_max && left.size > 0; attempt += 1) {
    if (attempt > 0) await pause(rest_ms_max * Math.random());
    const admitted = await admit(deps, [...left.keys()], walk);
    await deps.followUps.admitted(admitted);
    for (const id of admitted.held) walk.held.add(id);
    held += admitted.held.length;
    left = admitted.left;
  }
  for (const group of left.values()) if (group !== undefined) walk.passed_over.add(group);
  return ids.length - left.size - held;
}
