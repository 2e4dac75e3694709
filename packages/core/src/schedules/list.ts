import { and, asc, eq, gt } from "../database/drizzle.ts";
import { plain } from "../database/plain.ts";
import { schedules } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { seen, type SeenSchedule } from "./find.ts";

export type ScheduleRows = {
  rows: SeenSchedule[];
  /** The name to continue after; undefined at the end. */
  next: string | undefined;
};

/**
 * A tenant's schedules by name, at most `limit` of those after a name.
 *
 * @example
 * const { rows, next } = await listSchedules(deps, "default", 50);
 */
export async function listSchedules(
  deps: Pick<Deps, "database">,
  tenant: string,
  limit: number,
  after = "",
): Promise<ScheduleRows> {
  const rows = await plain(deps.database, (db) =>
    db
      .select(seen)
      .from(schedules)
      .where(and(eq(schedules.tenant, tenant), gt(schedules.name, after)))
      .orderBy(asc(schedules.name))
      .limit(limit + 1),
  );
  const page = rows.slice(0, limit);
  return { rows: page, next: rows.length > limit ? page.at(-1)?.name : undefined };
}
