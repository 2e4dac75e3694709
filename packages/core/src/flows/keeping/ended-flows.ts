import { isFinal, jobStatuses } from "@atlasqueue/contract";

const final = jobStatuses.filter(isFinal).map((status) => `'${status}'`);

/**
 * Parts of a WITH that pass over the jobs of flows of which one is not final yet: it may still ask for what its parents
 * made. `rows` is a part of jobs with their `flow_id`; `ended` has the others, those without a flow among them. A flow is looked
 * at once, however many of its jobs are in `rows`; from its end, where its last job is, and those that its jobs add: one
 * that goes on and on may have millions that are over.
 */
export const endedFlows = (rows: string) => `
  open_flows AS MATERIALIZED (
    SELECT asked.flow_id FROM (SELECT DISTINCT flow_id FROM ${rows} WHERE flow_id IS NOT NULL) AS asked
    CROSS JOIN LATERAL (
      SELECT FROM flow_jobs AS member CROSS JOIN LATERAL (
        SELECT status FROM jobs WHERE jobs.id = member.job_id OFFSET 0) AS job
      WHERE member.flow_id = asked.flow_id AND status NOT IN (${final.join(", ")})
      ORDER BY member.place DESC LIMIT 1) AS open
  ), ended AS MATERIALIZED (
    SELECT * FROM ${rows} WHERE flow_id IS NULL OR flow_id NOT IN (SELECT flow_id FROM open_flows)
  )`;
