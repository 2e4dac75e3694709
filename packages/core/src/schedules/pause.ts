import { and, eq, isNull, sql } from "../database/drizzle.ts";
import { plain } from "../database/plain.ts";
import { schedules } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { readCron } from "./cron/cron.ts";
import { findSchedule, isSchedule, seen, type ScheduleRef, type SeenSchedule } from "./list.ts";

/**
 * From now on the schedule fires nothing; jobs it made are left alone. Pausing it again changes nothing. Returns the
 * schedule as it then is, or undefined when there is none.
 *
 * @example
 * const schedule = await pauseSchedule(deps, { tenant: "default", name: "nightly" });
 */
export async function pauseSchedule(deps: Deps, ref: ScheduleRef): Promise<SeenSchedule | undefined> {
  const { tenant, name } = ref;
  const [paused] = await plain(deps.database, (db) =>
    db
      .update(schedules)
      .set({ paused_at: sql`now()`, updated_at: sql`now()` })
      .where(and(isSchedule(ref), isNull(schedules.paused_at)))
      .returning(seen),
  );
  if (!paused) return findSchedule(deps, ref);
  deps.observe({ event: "schedule_changed", tenant, schedule: name, change: "paused" });
  return paused;
}

/**
 * Let the schedule fire again, from its next slot on: a pause is not downtime, so nothing is caught up, whatever its
 * `catch_up`. Resuming one that is not paused changes nothing. Undefined when there is none.
 *
 * @example
 * const schedule = await resumeSchedule(deps, { tenant: "default", name: "nightly" });
 */
export async function resumeSchedule(deps: Deps, ref: ScheduleRef): Promise<SeenSchedule | undefined> {
  const { tenant, name } = ref;
  const row = await findSchedule(deps, ref);
  if (!row?.paused_at) return row;
  const [next_at = null] = readCron(row.cron, row.timezone).after(row.seen_at, 1);
  const [resumed] = await plain(deps.database, (db) =>
    db
      .update(schedules)
      .set({ paused_at: null, next_at, updated_at: sql`now()` })
      .where(
        and(
          isSchedule(ref),
          sql`${schedules.paused_at} IS NOT NULL`,
          eq(schedules.cron, row.cron),
          eq(schedules.timezone, row.timezone),
        ),
      )
      .returning(seen),
  );
  // Somebody resumed it, or gave it another cron meanwhile.
  if (!resumed) return resumeSchedule(deps, ref);
  deps.observe({ event: "schedule_changed", tenant, schedule: name, change: "resumed" });
  return resumed;
}

/** A schedule → (nothing). The jobs it made stay. False when there is no such schedule. */
export async function deleteSchedule(deps: Deps, { tenant, name }: ScheduleRef): Promise<boolean> {
  const [row] = await plain(deps.database, (db) =>
    db.delete(schedules).where(isSchedule({ tenant, name })).returning({ name: schedules.name }),
  );
  if (!row) return false;
  deps.observe({ event: "schedule_changed", tenant, schedule: name, change: "deleted" });
  return true;
}
