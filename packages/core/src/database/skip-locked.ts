import { isLocked } from "./errors.ts";

/**
 * A row that somebody's open transaction holds must not hold up the others of a batch: it is passed over, and is for the
 * next time. A part of a WITH that locks those of the jobs in `rows` that are `free`. They are updated by `isFree`, with
 * all their conditions once more, as they may have changed since the statement's snapshot.
 */
export const lockFree = (rows: string) => `free AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM ${rows})) FOR NO KEY UPDATE SKIP LOCKED
  )`;

export const isFree = "jobs.id = ANY(ARRAY(SELECT id FROM free))";

/** A condition that is always true: the statement gives up (`isLocked`) when it has waited so long for one row. */
export const impatient = "(SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL";

/** How a statement meets locked rows: it is `impatient` with them, or locks `free` ones first. */
export type Form = "quick" | "careful";

/**
 * Locking each row first costs a claim or a settlement a seventh more, so they try it without; only when somebody holds a
 * row for long are they sent again in the form that passes over it.
 */
export async function passingOverLocked<T>(send: (form: Form) => Promise<T>): Promise<T> {
  try {
    return await send("quick");
  } catch (error) {
    if (!isLocked(error)) throw error;
    return send("careful");
  }
}
