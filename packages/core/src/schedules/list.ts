import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { bytesOf, fitting, isCut } from "../memory-budget/bytes.ts";
import { and, eq, getTableColumns, sql } from "../database/drizzle.ts";
import { plain } from "../database/plain.ts";
import { schedules, type ScheduleRow } from "../database/schema/index.ts";

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

export type ScheduleRows = {
  rows: SeenSchedule[];
  /** The name to continue after; undefined at the end. */
  next: string | undefined;
};

/**
 * A tenant's schedules by name, at most `limit` of those after a name. Each is read with its job's payload, so a page is
 * cut at its bytes, as one of jobs is.
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
  type Row = SeenSchedule & { cut: boolean };
  const found = await executeOn(deps.database)<Row>({ text: list, params: [tenant, after, limit + 1] });
  const rows = found.slice(0, limit).map(({ cut: _cut, ...row }) => row);
  return { rows, next: found[0]?.cut || found.length > limit ? rows.at(-1)?.name : undefined };
}

const list = composed(
  "schedules/list",
  ["tenant", "after", "schedules_max"],
  `
  WITH RECURSIVE page AS MATERIALIZED (
    SELECT name FROM atlasqueue.schedules WHERE tenant = $1 AND name > $2 ORDER BY name LIMIT $3::int
  ), ${fitting({ from: "(SELECT * FROM atlasqueue.schedules WHERE tenant = $1) AS own", key: "name", order: "name", bytes: bytesOf("job") })}
  SELECT *, now() AS seen_at, ${isCut} AS cut FROM atlasqueue.schedules
  WHERE tenant = $1 AND name = ANY(ARRAY(SELECT name FROM fitting)) ORDER BY name`,
);
