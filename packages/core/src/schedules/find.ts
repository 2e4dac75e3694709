import { and, eq, getTableColumns, sql } from "../database/drizzle.ts";
import { plain } from "../database/plain.ts";
import { schedules, type ScheduleRow } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";

export type ScheduleRef = { tenant: string; name: string };

/** A schedule, and the database's time when it was read: its next slots are counted from there. */
export type SeenSchedule = ScheduleRow & { seen_at: Date };

/** The columns of a `SeenSchedule`. */
export const seen = { ...getTableColumns(schedules), seen_at: sql<Date>`now()` };

export async function findSchedule(deps: Pick<Deps, "database">, ref: ScheduleRef): Promise<SeenSchedule | undefined> {
  const [row] = await plain(deps.database, (db) => db.select(seen).from(schedules).where(isSchedule(ref)));
  return row;
}

/** A condition on `schedules`. */
export const isSchedule = ({ tenant, name }: ScheduleRef) =>
  and(eq(schedules.tenant, tenant), eq(schedules.name, name));
