import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { SeenSchedule } from "./find.ts";

export type ScheduleRows = {
  rows: SeenSchedule[];
  /** The name to go on after; undefined when there is no more. */
  next: string | undefined;
};

/**
 * A tenant's schedules in the order of their names, at most `limit` of those after a name.
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
  const rows = await executeOn(deps.database)<SeenSchedule>({ text: list, params: [tenant, after, limit + 1] });
  const page = rows.slice(0, limit);
  return { rows: page, next: rows.length > limit ? page.at(-1)?.name : undefined };
}

const list = `
  SELECT *, now() AS seen_at FROM schedules WHERE tenant = $1 AND name > $2 ORDER BY name LIMIT $3::int`;
