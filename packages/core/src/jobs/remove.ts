import { countMixedMoves } from "../counts/changes.ts";
import { forgetSteps } from "../steps/forget.ts";

/**
 * Parts of a WITH that remove jobs with all that is theirs alone: their attempts, steps and signals, and their
 * arrivals, which would be looked at for ever. `rows` is a part with the ids of locked ones; `gone` then has a row for each.
 */
export const removeJobs = (rows: string) => `
  gone AS (
    DELETE FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM ${rows}))
    RETURNING jobs.id, tenant, queue, status, status AS from_status, NULL AS to_status, has_steps
  ), attempts AS (
    DELETE FROM job_attempts WHERE job_id = ANY(ARRAY(SELECT id FROM ${rows}))
  ), unadmitted AS (
    DELETE FROM arrivals WHERE job_id = ANY(ARRAY(SELECT id FROM ${rows}))
  ), with_steps AS (
    SELECT id FROM gone WHERE has_steps
  ), ${forgetSteps("with_steps")}, ${countMixedMoves("gone")}`;
