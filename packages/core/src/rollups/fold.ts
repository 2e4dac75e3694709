import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { asyncCommit } from "../database/clauses.ts";
import type { Deps } from "../deps.ts";
import { mergedInto, sumColumns } from "./columns.ts";

/** How long the figures are kept by the minute, and then by the hour. */
const minutes_kept_hours = 48;
const hours_kept_days = 30;
const since = (span: string) => `date_trunc('hour', now(), 'UTC') - interval '${span}'`;
const keptSince = { minute: since(`${minutes_kept_hours} hours`), hour: since(`${hours_kept_days} days`) };
const over = (resolution: keyof typeof keptSince) => `ARRAY(
      SELECT ctid FROM atlasqueue.rollups WHERE resolution = '${resolution}' AND at < ${keptSince[resolution]}
      ORDER BY at LIMIT $1::int FOR UPDATE SKIP LOCKED)`;

/**
 * Add up to `rows_max` of the minutes that are older than two days to their hours, and remove as many of the hours that are older
 * than thirty days. Returns how many rows went; fewer than `rows_max` means that none are left but those locked by others. One
 * statement, so a reader sees each figure once.
 *
 * @example
 * while ((await foldMinutes(deps, 500)) >= 500);
 */
export async function foldMinutes(deps: Pick<Deps, "database">, rows_max: number): Promise<number> {
  const [row] = await executeOn(deps.database)<{ folded: number }>({ text: folding, params: [rows_max] });
  return row?.folded ?? 0;
}

const keys = "tenant, queue, type, at";
// Totals and buckets in one stream of parts: a join of them would be planned for a handful of rows, and run for many.
const folding = composed(
  "rollups/fold-minutes",
  ["rows_max"],
  `
  WITH taken AS (
    DELETE FROM atlasqueue.rollups WHERE ${asyncCommit} AND ctid = ANY(${over("minute")} || ${over("hour")})
    RETURNING *
  ), gone AS (
    SELECT tenant, queue, type, date_trunc('hour', at, 'UTC') AS at, ${sumColumns.join(", ")}, waits, runs FROM taken
    WHERE resolution = 'minute' AND at >= ${keptSince.hour}
  ), parts AS (
    SELECT ${keys}, 0 AS place, ${sumColumns.join(", ")}, NULL::int8 AS wait, NULL::int8 AS run FROM gone
    UNION ALL
    SELECT ${keys}, place, ${sumColumns.map(() => "0").join(", ")}, wait, run
    FROM gone, unnest(waits, runs) WITH ORDINALITY AS bucket(wait, run, place)
  ), buckets AS (
    SELECT ${keys}, place, ${sumColumns.map((column) => `sum(${column}) AS ${column}`).join(", ")},
           coalesce(sum(wait), 0) AS wait, coalesce(sum(run), 0) AS run
    FROM parts GROUP BY ${keys}, place
  ), hours AS (
    INSERT INTO atlasqueue.rollups AS known (${keys}, resolution, ${sumColumns.join(", ")}, waits, runs)
    SELECT ${keys}, 'hour', ${sumColumns.map((column) => `sum(${column})`).join(", ")},
           coalesce(array_agg(wait ORDER BY place) FILTER (WHERE place > 0), '{}'),
           coalesce(array_agg(run ORDER BY place) FILTER (WHERE place > 0), '{}')
    FROM buckets GROUP BY ${keys} ORDER BY ${keys}
    ON CONFLICT (${keys}, resolution) DO UPDATE SET ${mergedInto("known")}
  )
  SELECT count(*)::int AS folded FROM taken`,
);
