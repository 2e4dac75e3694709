/**
 * Parts of a WITH that remove what handlers and signals left with jobs, for those that are removed or get another
 * payload. `rows` is a part with the ids of those that may have any.
 */
export const forgetSteps = (rows: string) => {
  const theirs = `job_id = ANY(ARRAY(SELECT id FROM ${rows}))`;
  return `steps_gone AS (
    DELETE FROM job_steps WHERE ${theirs}
  ), signals_gone AS (
    DELETE FROM job_signals WHERE ${theirs}
  ), ${forgetWaits(rows)}`;
};

/** The same for waits alone: the time counts anew. */
export const forgetWaits = (rows: string) => `waits_gone AS (
    DELETE FROM job_waits WHERE job_id = ANY(ARRAY(SELECT id FROM ${rows}))
  )`;
