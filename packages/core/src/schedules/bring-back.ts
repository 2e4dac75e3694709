import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { yieldEvery } from "../pause.ts";
import { readCron } from "./cron/cron.ts";
import { dueColumns, type DueSchedule, applyPlans, type Plan } from "./fire.ts";
import type { ScheduleRef } from "./list.ts";

/** Before all schedules. */
export const firstSchedule: ScheduleRef = { tenant: "", name: "" };

/**
 * Bring schedules back whose next slot is later than the one that comes next: the database's clock was ahead when they
 * were last fired, and they would be silent until it gets there again; or the rules of their time zone have changed since.
 * A slot that was fired early gets no second job, by its key. Looks at a bounded number, and returns the last of them for
 * the next call, or undefined when there are no more.
 *
 * @example
 * for (let after = firstSchedule; after; ) after = await bringBack(deps, after, 100);
 */
export async function bringBack(
  deps: Pick<Deps, "database">,
  after: ScheduleRef,
  schedules_max: number,
): Promise<ScheduleRef | undefined> {
  const params = [after.tenant, after.name, schedules_max];
  const rows = await executeOn(deps.database)<DueSchedule>({ text: look, params });
  const late: Plan[] = [];
  const rest = yieldEvery();
  for (const row of rows) {
    const earlier = nextOf(row);
    if (earlier && earlier < row.next_at)
      late.push({ row, next_at: earlier, fire: [], missed_from: null, submissions: [] });
    await rest();
  }
  // A schedule that is locked, or was changed meanwhile, comes next time.
  await applyPlans(deps, late);
  return rows.length === schedules_max ? rows.at(-1) : undefined;
}

/** Undefined for one that was changed by hand and cannot be read: that is reported when it is due. */
function nextOf({ cron, timezone, now }: DueSchedule): Date | undefined {
  try {
    return readCron(cron, timezone).after(now, 1)[0];
  } catch {
    return undefined;
  }
}

// The shortest time between two slots is a minute.
const look = `
  SELECT ${dueColumns} FROM atlasqueue.schedules AS known
  WHERE (tenant, name) > ($1, $2) AND paused_at IS NULL AND next_at > now() + interval '1 minute'
  ORDER BY tenant, name LIMIT $3::int`;
