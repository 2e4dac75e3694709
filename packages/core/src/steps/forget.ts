import { takeOwn } from "../database/skip-locked.ts";

/** A part of a WITH that removes what handlers and signals left with jobs that get another payload: those in `rows`. */
export const forgetSteps = (rows: string) => `job_state_gone AS (
    DELETE FROM atlasqueue.job_state WHERE job_id = ANY(ARRAY(SELECT id FROM ${rows}))
  )`;

/** Parts of a WITH that lock all of that, so that `forgetSteps` waits for nobody; `held` are the jobs of which another transaction has some. */
export const takeSteps = (rows: string) => takeOwn([{ table: "job_state", column: "job_id", of: rows }]);
