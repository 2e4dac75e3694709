import { countMixedMoves } from "../counts/changes.ts";
import { isTaken, takeOwn, type Belonging } from "../database/skip-locked.ts";

/** What is a job's alone, and by which column. Only with `has_steps` is there any of the last. */
const belongings: readonly Belonging[] = [
  { table: "job_attempts", column: "job_id", of: "unawaited" },
  { table: "flow_jobs", column: "job_id", of: "unawaited" },
  { table: "flow_edges", column: "child", of: "unawaited" },
  { table: "job_state", column: "job_id", of: "with_steps" },
];

/** A part of a WITH that removes what was taken of one kind. */
export const removed = (one: Belonging) => `${one.table}_gone AS (
    DELETE FROM atlasqueue.${one.table} WHERE ${isTaken(one)}
  )`;

/**
 * Parts of a WITH that remove jobs with all that is theirs alone: their attempts, steps and signals, and
 * their places in flows. `rows` is a part with locked ones: their `id`,
 * `has_children`, `has_steps` and `xmin AS version`. Those that others still wait for stay; `unawaited` has the rest. Of
 * these stay those of which somebody holds a row, as nothing may wait for that: `gone` then has a row for each of the
 * others. A child that was cancelled for a job that is removed keeps its edge, so that it does not come back when its
 * other parents succeed.
 *
 * Jobs that came to wait for one since the statement's snapshot cannot be seen, but its row was written with them.
 */
export const removeJobs = (rows: string) => `
  unawaited AS MATERIALIZED (
    SELECT id, has_steps FROM ${rows} WHERE has_children IS NULL OR (
      version = (SELECT xmin FROM atlasqueue.jobs AS seen WHERE seen.id = ${rows}.id)
      AND NOT EXISTS (SELECT FROM atlasqueue.flow_edges WHERE parent = ${rows}.id AND NOT failed))
  ), with_steps AS MATERIALIZED (
    SELECT id FROM unawaited WHERE has_steps
  ), ${takeOwn(belongings)}, ${belongings.map(removed).join(", ")}, gone AS (
    DELETE FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM unawaited WHERE id NOT IN (SELECT owner FROM held)))
    RETURNING jobs.id, tenant, queue, status, status AS from_status, NULL AS to_status
  ), ${countMixedMoves("gone")}`;
