import { countMixedMoves } from "../counts/changes.ts";
import { lockTimeout } from "../database/clauses.ts";

/** What is a job's alone: the table, its column, and the part that has the ids. Only with `has_steps` is there any of the last. */
const belongings = [
  ["job_attempts", "job_id", "unawaited"],
  ["flow_jobs", "job_id", "unawaited"],
  ["flow_edges", "child", "unawaited"],
  ["job_state", "job_id", "with_steps"],
] as const;

/** A part of a WITH that removes the rows of a table that belong to the jobs in `rows`. */
export const removeOf = (table: string, column: string, rows: string) => `${table}_gone AS (
    DELETE FROM atlasqueue.${table} WHERE ${column} = ANY(ARRAY(SELECT id FROM ${rows}))
  )`;

/**
 * Parts of a WITH that remove jobs with all that is theirs alone: their attempts, steps and signals, and
 * their places in flows. `rows` is a part with locked ones: their `id`,
 * `has_children`, `has_steps` and `xmin AS version`. Those that others still wait for stay; `unawaited` has the rest, and
 * `gone` a row for each of them. The statement fails (`isLocked`) if another transaction has what is theirs locked for
 * 200 ms. A child that was cancelled for a job that is removed keeps its edge, so that it does not come back when its
 * other parents succeed.
 *
 * Jobs that came to wait for one since the statement's snapshot cannot be seen, but its row was written with them.
 */
export const removeJobs = (rows: string) => `
  unawaited AS MATERIALIZED (
    SELECT id, has_steps FROM ${rows} WHERE ${lockTimeout} AND (has_children IS NULL OR (
      version = (SELECT xmin FROM atlasqueue.jobs AS seen WHERE seen.id = ${rows}.id)
      AND NOT EXISTS (SELECT FROM atlasqueue.flow_edges WHERE parent = ${rows}.id AND NOT failed)))
  ), with_steps AS MATERIALIZED (
    SELECT id FROM unawaited WHERE has_steps
  ), ${belongings.map(([table, column, of]) => removeOf(table, column, of)).join(", ")}, gone AS (
    DELETE FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM unawaited))
    RETURNING jobs.id, tenant, queue, status, status AS from_status, NULL AS to_status
  ), ${countMixedMoves("gone")}`;
