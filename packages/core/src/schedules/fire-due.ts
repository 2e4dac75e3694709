import { isLocked, isUnavailable } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import { dueSchedules, type DueSchedule, fireSchedules } from "./fire.ts";
import type { ScheduleRef } from "./list.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { readyAmong } from "../submit/outcome.ts";

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
  for (let round = 0; round < rounds_max; round += 1) {
    const due = await dueSchedules(deps, schedules_max, failed);
    const fired = due.length === 0 ? 0 : await fireOrSplit(deps, due, failed);
    total += fired;
    // Another process fires them, or there are none left.
    if (fired === 0) break;
  }
  return total;
}

async function fireOrSplit(deps: FirerDeps, due: readonly DueSchedule[], failed: ScheduleRef[]): Promise<number> {
  try {
    const { schedules, made, any_pending } = await fireSchedules(deps, due);
    const { followUps } = deps;
    if (followUps) await followUps.admitted({ outcomes: made, ended: [], counted: new Set() });
    else await announce(deps, readyAmong(made));
    if (any_pending) void followUps?.drain();
    return schedules;
  } catch (error) {
    if (isUnavailable(error) && !isLocked(error)) throw error;
    const [one, ...others] = due;
    if (others.length > 0) {
      let schedules = 0;
      for (const each of due) schedules += await fireOrSplit(deps, [each], failed);
      return schedules;
    }
    if (one) {
      failed.push(one);
      deps.observe({ event: "schedule_failed", tenant: one.tenant, schedule: one.name, error: String(error) });
    }
    return 0;
  }
}
