import { removeOf } from "../jobs/remove.ts";

/** A part of a WITH that removes what handlers and signals left with jobs that get another payload: those in `rows`. */
export const forgetSteps = (rows: string) => removeOf("job_state", "job_id", rows);
