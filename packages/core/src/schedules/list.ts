import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { bytesOf, fitting, isCut } from "../memory-budget/bytes.ts";
import type { SeenSchedule } from "./find.ts";

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
