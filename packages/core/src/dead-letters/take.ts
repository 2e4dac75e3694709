import { impatient } from "../database/skip-locked.ts";
import { pageConditions, placeOf, stretch_jobs_max, type StartsPage } from "./pages.ts";

/**
 * Parts of a WITH that lock the dead letters of a page, longest dead first, at most `rows_max`. `page` are those that
 * match; `taken` are their rows, without locked ones (or those that `only` leaves out), and `reached` is where a walk
 * has come to: the row of a statement ends with `reachedFrom`. `before` is a part that `only` needs.
 *
 * The inner LIMIT bounds what a rare filter reads, the outer one ends the reading as soon as the page is full: neither
 * may be materialized.
 */
export function takeDead(
  kind: StartsPage["kind"],
  rows_max: number | string,
  { before = "", only = "true" } = {},
): string {
  return `
  ${pageBounded(kind, rows_max)}, ${before} taken AS MATERIALIZED (
    SELECT id, tenant, queue, group_key, status, dead_at, flow_id, has_children, has_steps, xmin AS version FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM page)) AND ${pageConditions[kind].still} AND ${impatient} AND ${only}
    FOR UPDATE SKIP LOCKED
  )`;
}

/** The part that reads a page, and locks nothing. */
export function pageBounded(kind: StartsPage["kind"], rows_max: number | string): string {
  const { within, matches } = pageConditions[kind];
  return `page AS MATERIALIZED (
    SELECT id, dead_at FROM (
      SELECT id, dead_at, ${matches} AS found FROM atlasqueue.jobs WHERE ${within} ORDER BY dead_at, id LIMIT ${stretch_jobs_max}
    ) AS stretch WHERE found ORDER BY dead_at, id LIMIT ${rows_max})`;
}

/** How many matched, and where the walk continues: null at its end. */
export function reachedFrom(kind: StartsPage["kind"], rows_max: number | string): string {
  const { within } = pageConditions[kind];
  const reached = `
    CASE WHEN (SELECT count(*) FROM page) = ${rows_max}
      THEN (SELECT ${placeOf} FROM page ORDER BY dead_at DESC, id DESC LIMIT 1)
      ELSE (SELECT ${placeOf} FROM atlasqueue.jobs WHERE ${within} ORDER BY dead_at, id OFFSET ${stretch_jobs_max - 1} LIMIT 1) END`;
  return `(SELECT count(*)::int FROM page) AS found, ${kind === "walk" ? reached : "NULL"} AS reached`;
}
