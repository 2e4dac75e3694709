/**
 * What stands in the place of a result that was cleared: JSON's null, as a job that made none has no JSON at all. So
 * a caller that waited for the job can tell them apart, and everyone else reads null.
 */
export const clearedResult = "'null'::json";

/** Whether it stands there, of a row of `jobs`: found out without reading a result that is stored outside the row. */
export const isCleared =
  "CASE WHEN pg_column_size(result) > 8 THEN false ELSE coalesce(result::text = 'null', false) END";

/** A job of a flow that is not final and does not run, in the words of the index `jobs_waiting_of_flow`. */
const waits = "flow_id IS NOT NULL AND (ready_at IS NOT NULL OR due_at IS NOT NULL OR group_seq IS NOT NULL)";

/**
 * Parts of a WITH that pass over the jobs of flows of which one is not final yet: it may still ask for what its parents
 * made. `rows` is a part of jobs with their `flow_id`; `ended` has the others, those without a flow among them. A flow is looked
 * at once, however many of its jobs are in `rows`, and however many millions of them are over, as none of those is read:
 * an index has those that wait, the claims lead to those that run.
 *
 * A range in the order of that index, though it is one flow: PostgreSQL would otherwise take a job that waits for so
 * likely, where most rows are one flow's, that it reads the table for the first.
 */
export const endedFlows = (rows: string) => `
  waiting_flows AS MATERIALIZED (
    SELECT asked.flow_id FROM (SELECT DISTINCT flow_id FROM ${rows} WHERE flow_id IS NOT NULL) AS asked
    CROSS JOIN LATERAL (
      SELECT FROM atlasqueue.jobs WHERE flow_id >= asked.flow_id AND flow_id <= asked.flow_id AND ${waits}
      ORDER BY jobs.flow_id LIMIT 1) AS waiting
  ), running_flows AS MATERIALIZED (
    SELECT DISTINCT flow_id FROM atlasqueue.jobs
    WHERE (SELECT true FROM ${rows} WHERE flow_id IS NOT NULL LIMIT 1) AND id = ANY(ARRAY(SELECT unnest(job_ids) FROM atlasqueue.claims))
      AND status = 'running' AND flow_id IS NOT NULL
  ), ended AS MATERIALIZED (
    SELECT * FROM ${rows} WHERE flow_id IS NULL OR (
      flow_id NOT IN (SELECT flow_id FROM waiting_flows) AND flow_id NOT IN (SELECT flow_id FROM running_flows))
  )`;
