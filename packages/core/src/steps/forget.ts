import { takeOwn, type Belonging } from "../database/skip-locked.ts";

const kinds = ["job_steps", "job_signals", "job_waits"];

/** Parts of a WITH that remove what handlers and signals left with jobs that get another payload: those in `rows`. */
export const forgetSteps = (rows: string) =>
  kinds
    .map(
      (table) => `${table}_gone AS (
    DELETE FROM atlasqueue.${table} WHERE job_id = ANY(ARRAY(SELECT id FROM ${rows}))
  )`,
    )
    .join(", ");

/** Parts of a WITH that lock all of that, so that `forgetSteps` waits for nobody; `held` are the jobs of which another transaction has some. */
export const takeSteps = (rows: string) =>
  takeOwn(kinds.map((table): Belonging => ({ table, column: "job_id", of: rows })));
