import { isLocked, isUnavailable } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import { dueSchedules } from "./due.ts";
import type { ScheduleRef } from "./find.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { readyAmong } from "../submit/outcome.ts";
import { fireSchedules, type FiredSlots } from "./fire.ts";

/** Without follow-ups, jobs that ask for a group or to be unique wait for the sweep. */
type FirerDeps = Deps & { signal: Signal; followUps?: Pick<FollowUps, "admitted" | "drain"> };

const schedules_max = 100;
/** Transactions in one sweep, leaving its other duties their turn. */
const rounds_max = 20;

/**
 * Fire every slot that is due, and signal the jobs. A schedule that cannot be fired (its row was changed by hand, its
 * key is held by an open transaction) is reported and left for the next time; the others are fired without it. Returns
 * how often a schedule was moved on.
 *
 * @example
 * const fired = await fireAll({ database, signal, observe });
 */
export async function fireAll(deps: FirerDeps): Promise<number> {
  const failed: ScheduleRef[] = [];
  let total = 0;
  for (let rounds_left = rounds_max; rounds_left > 0;) {
    // Looking for them reads all that are due: once for many rounds.
    const due = await dueSchedules(deps, rounds_left * schedules_max, failed);
    let fired = 0;
    for (let from = 0; from < due.length && rounds_left > 0; rounds_left -= 1) {
      const round = await fireOrSplit(deps, due.slice(from, from + schedules_max), failed);
      fired += round.schedules;
      // Those there was no room for come next: some of them are the only ones of their tenants.
      from += round.reached;
    }
    total += fired;
    // Another process fires them, or there are none left.
    if (fired === 0) break;
  }
  return total;
}

type Round = Pick<FiredSlots, "schedules" | "reached">;

async function fireOrSplit(deps: FirerDeps, due: readonly ScheduleRef[], failed: ScheduleRef[]): Promise<Round> {
  try {
    const { schedules, reached, made, any_pending } = await fireSchedules(deps, due);
    const { followUps } = deps;
    if (followUps) await followUps.admitted({ outcomes: made, ended: [], counted: new Set() });
    else await announce(deps, readyAmong(made));
    if (any_pending) void followUps?.drain();
    return { schedules, reached };
  } catch (error) {
    if (isUnavailable(error) && !isLocked(error)) throw error;
    const [one] = due;
    if (due.length > 1 || !one) return fireEach(deps, due, failed);
    failed.push(one);
    deps.observe({ event: "schedule_failed", tenant: one.tenant, schedule: one.name, error: String(error) });
    return { schedules: 0, reached: 1 };
  }
}

async function fireEach(deps: FirerDeps, due: readonly ScheduleRef[], failed: ScheduleRef[]): Promise<Round> {
  let schedules = 0;
  for (const one of due) schedules += (await fireOrSplit(deps, [one], failed)).schedules;
  return { schedules, reached: due.length };
}
