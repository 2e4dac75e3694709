/**
 * A row that somebody's open transaction holds must not hold up the others of a batch: such a row is passed over, and
 * is for the next time. A part of a WITH that locks, of the jobs in `rows`, those that are `free`; they need no `id`
 * twice, and are updated by `isFree` with all their conditions once more, as they may have changed since the snapshot.
 */
export const lockFree = (rows: string) => `free AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM ${rows})) FOR NO KEY UPDATE SKIP LOCKED
  )`;

export const isFree = "jobs.id = ANY(ARRAY(SELECT id FROM free))";

/**
 * A condition that is always true. Locking each row first costs a claim or a settlement a seventh more, so those wait
 * for rows, and give up after this (`isLocked`); then they are sent again in the form that passes over locked rows.
 */
export const impatient = "(SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL";
