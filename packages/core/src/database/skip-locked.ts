/**
 * A row locked by an open transaction must not hold up the others of a batch: it is skipped until the next time. A part
 * of a WITH that locks those of the jobs in `rows` that are `free`. They are updated by `isFree`, repeating all their
 * conditions, as they may have changed since the statement's snapshot. `also` is a further condition, such as that what
 * belongs to them is free, too.
 */
export const lockFree = (rows: string, also?: string) => `free AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM ${rows}))${also ? ` AND ${also}` : ""} FOR NO KEY UPDATE SKIP LOCKED
  )`;

export const isFree = "jobs.id = ANY(ARRAY(SELECT id FROM free))";

/**
 * The same for an UPDATE that needs more of the `rows`, up to `jobs_max` (an expression) of the free ones: `FROM free
 * WHERE jobs.id = free.id`, and all their conditions. Joined to the rows beside `isFree`, it would be planned for a few,
 * and go through all the ids for each of thousands.
 */
export const lockFreeOnes = (rows: string, jobs_max?: string, also?: string) => `free AS MATERIALIZED (
    SELECT ${rows}.* FROM ${rows} JOIN atlasqueue.jobs ON jobs.id = ${rows}.id${also ? ` WHERE ${also}` : ""}${jobs_max ? ` LIMIT ${jobs_max}` : ""} FOR NO KEY UPDATE OF jobs SKIP LOCKED
  )`;

/** A condition that is always true: the statement gives up (`isLocked`) after waiting this long for one row. */
export const impatient = "(SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL";
