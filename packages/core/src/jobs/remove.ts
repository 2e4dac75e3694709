import { countMixedMoves } from "../counts/changes.ts";
import { forgetSteps } from "../steps/forget.ts";

const theRemovable = "ANY(ARRAY(SELECT id FROM removable))";

/**
 * Parts of a WITH that remove jobs with all that is theirs alone: their attempts, steps and signals, their
 * arrivals, which would be looked at for ever, and their places in flows. `rows` is a part with locked ones: their `id`, `has_children` and `xmin AS
 * version`. Those that others still wait for stay; `gone` then has a row for each of the rest. A child that was
 * cancelled for a job that is removed keeps its edge, so that it does not come back when its other parents succeed.
 *
 * Jobs that came to wait for one since the statement's snapshot cannot be seen, but its row was written with them.
 */
export const removeJobs = (rows: string) => `
  removable AS MATERIALIZED (
    SELECT id FROM ${rows} WHERE has_children IS NULL OR (
      version = (SELECT xmin FROM jobs AS seen WHERE seen.id = ${rows}.id)
      AND NOT EXISTS (SELECT FROM flow_edges WHERE parent = ${rows}.id AND NOT failed))
  ), gone AS (
    DELETE FROM jobs WHERE id = ${theRemovable}
    RETURNING jobs.id, tenant, queue, status, status AS from_status, NULL AS to_status, has_steps
  ), attempts AS (
    DELETE FROM job_attempts WHERE job_id = ${theRemovable}
  ), unadmitted AS (
    DELETE FROM arrivals WHERE job_id = ${theRemovable}
  ), out_of_flows AS (
    DELETE FROM flow_jobs WHERE job_id = ${theRemovable}
  ), edges AS (
    DELETE FROM flow_edges WHERE child = ${theRemovable}
  ), with_steps AS (
    SELECT id FROM gone WHERE has_steps
  ), ${forgetSteps("with_steps")}, ${countMixedMoves("gone")}`;
