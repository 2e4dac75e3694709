import { countMixedMoves } from "../counts/changes.ts";

/** What is a job's alone, and by which column. Only with `has_steps` is there any of the last three. */
const belongings = [
  { table: "job_attempts", column: "job_id", of: "unawaited" },
  { table: "arrivals", column: "job_id", of: "unawaited" },
  { table: "flow_jobs", column: "job_id", of: "unawaited" },
  { table: "flow_edges", column: "child", of: "unawaited" },
  { table: "job_steps", column: "job_id", of: "with_steps" },
  { table: "job_signals", column: "job_id", of: "with_steps" },
  { table: "job_waits", column: "job_id", of: "with_steps" },
];
type Belonging = (typeof belongings)[number];

/** Its rows, each locked, or without a `place` when that would have to wait, or when it has just changed. */
const taken = ({ table, column, of }: Belonging) => `${table}_taken AS MATERIALIZED (
    SELECT ${column} AS owner, locked.place FROM ${table}
    LEFT JOIN LATERAL (
      SELECT own.ctid AS place FROM ${table} AS own WHERE own.ctid = ${table}.ctid FOR UPDATE SKIP LOCKED) AS locked ON true
    WHERE ${column} = ANY(ARRAY(SELECT id FROM ${of}))
  )`;
const removed = ({ table }: Belonging) => `${table}_gone AS (
    DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
      SELECT place FROM ${table}_taken WHERE owner NOT IN (SELECT owner FROM held)))
  )`;
const held = belongings.map(({ table }) => `SELECT owner FROM ${table}_taken WHERE place IS NULL`);

/**
 * Parts of a WITH that remove jobs with all that is theirs alone: their attempts, steps and signals, their
 * arrivals, which would be looked at for ever, and their places in flows. `rows` is a part with locked ones: their `id`,
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
      version = (SELECT xmin FROM jobs AS seen WHERE seen.id = ${rows}.id)
      AND NOT EXISTS (SELECT FROM flow_edges WHERE parent = ${rows}.id AND NOT failed))
  ), with_steps AS MATERIALIZED (
    SELECT id FROM unawaited WHERE has_steps
  ), ${belongings.map(taken).join(", ")}, held AS MATERIALIZED (
    ${held.join(" UNION ALL ")}
  ), ${belongings.map(removed).join(", ")}, gone AS (
    DELETE FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM unawaited WHERE id NOT IN (SELECT owner FROM held)))
    RETURNING jobs.id, tenant, queue, status, status AS from_status, NULL AS to_status
  ), ${countMixedMoves("gone")}`;
