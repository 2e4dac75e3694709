import { isLocked } from "./errors.ts";
import { notHeldUnread } from "./transaction.ts";
import { unsynced } from "./unsynced.ts";

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

/**
 * A condition on jobs that are only looked at: no open transaction holds them. Trying to lock a row is a write, so it is
 * done where the row says that someone has held it, now or before: mostly nowhere. The lock lasts until the answer is sent,
 * which a process that stands still does not read.
 */
export const heldByNobody = `(jobs.xmax = '0' OR ${unsynced} AND ${notHeldUnread} AND EXISTS (
      SELECT FROM atlasqueue.jobs AS own WHERE own.id = jobs.id FOR NO KEY UPDATE SKIP LOCKED))`;

/** A condition that is always true: the statement gives up (`isLocked`) after waiting this long for one row. */
export const impatient = "(SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL";

/** How a statement treats locked rows: it is `impatient` with them, or locks `free` ones first. */
export type Form = "quick" | "careful";

/** Whether what a statement is about was found locked a moment ago, by whoever may hold it still; `note` says that it was. */
export type Met = { lately(): boolean; note(): void };

/**
 * Locking each row first costs a claim or a settlement a seventh more, so they first try without; only when a row stays
 * locked are they sent again in the form that skips it. Where that was `met` lately, they do not wait for it again.
 */
export async function passingOverLocked<T>(send: (form: Form) => Promise<T>, met?: Met): Promise<T> {
  if (met?.lately()) return send("careful");
  try {
    return await send("quick");
  } catch (error) {
    if (!isLocked(error)) throw error;
    met?.note();
    return send("careful");
  }
}
