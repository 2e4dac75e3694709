import { lockTimeout } from "../database/clauses.ts";
import { endOfStretch, pageConditions, placeOf, stretch_jobs_max } from "./pages.ts";

const { byIds, walk, matches, still } = pageConditions;

/**
 * Parts of a WITH that lock the jobs of a page, longest dead first, at most `rows_max`. `page` are those that match;
 * `taken` are their rows, without locked ones (or those that `only` leaves out), and `reached` is where a walk has come
 * to: the row of a statement ends with `reachedFrom`. `before` is a part that `only` needs.
 */
export const takeDead = (rows_max: number | string, { before = "", only = "true" } = {}) => `
  ${pageBounded(rows_max)}, ${before} taken AS MATERIALIZED (
    SELECT id, tenant, queue, group_key, status, dead_at, flow_id, has_children, has_steps, xmin AS version FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM page)) AND ${still} AND ${lockTimeout} AND ${only}
    FOR UPDATE SKIP LOCKED
  )`;

/**
 * The part that reads a page, and locks nothing. The inner LIMIT bounds what a rare filter reads, the outer one ends the
 * reading as soon as the page is full: neither may be materialized.
 */
export const pageBounded = (rows_max: number | string) => `page AS MATERIALIZED (
    (SELECT id, dead_at FROM (
      SELECT id, dead_at, ${matches} AS found FROM atlasqueue.jobs WHERE ${walk} ORDER BY dead_at, id LIMIT ${stretch_jobs_max}
    ) AS stretch WHERE found ORDER BY dead_at, id LIMIT ${rows_max})
    UNION ALL
    (SELECT id, dead_at FROM atlasqueue.jobs WHERE ${byIds} AND ${still} ORDER BY dead_at, id LIMIT ${rows_max}))`;

/** How many matched, and where the walk continues: null at its end, and of a page with ids. */
export const reachedFrom = (rows_max: number | string) => `(SELECT count(*)::int FROM page) AS found,
    CASE WHEN cardinality($2::uuid[]) > 0 THEN NULL
      WHEN (SELECT count(*) FROM page) = ${rows_max}
      THEN (SELECT ${placeOf} FROM page ORDER BY dead_at DESC, id DESC LIMIT 1)
      ELSE ${endOfStretch(`atlasqueue.jobs WHERE ${walk} ORDER BY dead_at, id`)} END AS reached`;
