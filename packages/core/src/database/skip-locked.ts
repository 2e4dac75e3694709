import { isLocked } from "./errors.ts";

/**
 * A row locked by an open transaction must not hold up the others of a batch: it is skipped until the next time. A part
 * of a WITH that locks those of the jobs in `rows` that are `free`. They are updated by `isFree`, repeating all their
 * conditions, as they may have changed since the statement's snapshot.
 */
export const lockFree = (rows: string) => `free AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM ${rows})) FOR NO KEY UPDATE SKIP LOCKED
  )`;

export const isFree = "jobs.id = ANY(ARRAY(SELECT id FROM free))";

/** A condition that is always true: the statement gives up (`isLocked`) after waiting this long for one row. */
export const impatient = "(SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL";

/** How a statement treats locked rows: it is `impatient` with them, or locks `free` ones first. */
export type Form = "quick" | "careful";

/**
 * Locking each row first costs a claim or a settlement a seventh more, so they first try without; only when a row stays
 * locked are they sent again in the form that skips it.
 */
export async function passingOverLocked<T>(send: (form: Form) => Promise<T>): Promise<T> {
  try {
    return await send("quick");
  } catch (error) {
    if (!isLocked(error)) throw error;
    return send("careful");
  }
}
