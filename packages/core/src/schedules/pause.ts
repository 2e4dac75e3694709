import { composed } from "../database/composed.ts";
import { and, isNull, sql } from "../database/drizzle.ts";
import { plain } from "../database/plain.ts";
import { schedules } from "../database/schema/index.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { readCron } from "./cron/cron.ts";
import { findSchedule, holdSchedule, isSchedule, seen, type ScheduleRef, type SeenSchedule } from "./find.ts";

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
  const { found, resumed } = await inTransaction(deps.database, async (execute) => {
    // Locked, so that no one changes its cron meanwhile.
    const row = await holdSchedule(execute, ref);
    if (!row?.paused_at) return { found: row };
    const [next_at] = readCron(row.cron, row.timezone).after(row.seen_at, 1);
    const params = [tenant, name, next_at?.toISOString() ?? ""];
    const [after] = await execute<SeenSchedule>({ text: resume, params });
    return { found: row, resumed: after };
  });
  if (!resumed) return found;
  deps.observe({ event: "schedule_changed", tenant, schedule: name, change: "resumed" });
  return resumed;
}

const resume = composed(
  "schedules/resume",
  ["tenant", "name", "next_at"],
  `
  UPDATE atlasqueue.schedules SET paused_at = NULL, next_at = nullif($3::text, '')::timestamptz, updated_at = now()
  WHERE tenant = $1 AND name = $2
  RETURNING *, now() AS seen_at`,
);
