/**
 * A row locked by an open transaction must not hold up the others of a batch: it is skipped until the next time. A part
 * of a WITH that locks those of the jobs in `rows` that are `free`. They are updated by `isFree`, repeating all their
 * conditions, as they may have changed since the statement's snapshot.
 */
export const lockFree = (rows: string) => `free AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM ${rows})) FOR NO KEY UPDATE SKIP LOCKED
  )`;

export const isFree = "jobs.id = ANY(ARRAY(SELECT id FROM free))";

/**
 * The same for an UPDATE that needs more of the `rows`, up to `jobs_max` (an expression) of the free ones: `FROM free
 * WHERE jobs.id = free.id`, and all their conditions. Joined to the rows besides `isFree`, it would be planned for a few,
 * and go through all the ids for each of thousands. `also` is a further condition, such as that what belongs to them is free.
 */
export const lockFreeOnes = (rows: string, jobs_max?: string, also?: string) => `free AS MATERIALIZED (
    SELECT ${rows}.* FROM ${rows} JOIN atlasqueue.jobs ON jobs.id = ${rows}.id${also ? ` WHERE ${also}` : ""}${jobs_max ? ` LIMIT ${jobs_max}` : ""} FOR NO KEY UPDATE OF jobs SKIP LOCKED
  )`;

/** A condition that is always true: the statement gives up (`isLocked`) after waiting this long for one row. */
export const lockTimeout = "(SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL";

/**
 * A column that is always true, and makes its statement's transaction wait at its end for the synchronous standby, if
 * one is configured, like a write. For looks that answer "it is done" about what another statement wrote: that one may
 * have been cancelled while it waited, and then its row is visible here and known nowhere else. A record in the log is
 * what makes PostgreSQL wait. As a column it is evaluated once, and only when there is a row.
 */
export const replicated = `(
    SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN true
                ELSE pg_logical_emit_message(true, 'atlasqueue', '') IS NOT NULL END) AS replicated`;

/**
 * A condition that is always true, and keeps its transaction's commit from waiting for the disk: for what a database
 * crash may forget. It is inside the statement, so that it works through any pooler and affects nothing else. The
 * sub-select must stay: PostgreSQL evaluates it once, and a bare call would run once per row.
 */
export const asyncCommit = "(SELECT set_config('synchronous_commit', 'off', true)) = 'off'";

/**
 * The same for renewals of the leases in `held`, a part of the WITH with the `locked_until` of each: their commit waits
 * for the disk when less than half of the time asked for is left of one of them. A lease whose renewal a crash forgets then
 * lasts until the next one of a holder that renews it twice in its time; what a longer or a late one was answered holds.
 */
export const asyncCommitUnlessLate = (seconds: string) => `(
      SELECT set_config('synchronous_commit',
        CASE WHEN bool_or(locked_until < now() + make_interval(secs => ${seconds}::float8 / 2))
             THEN current_setting('synchronous_commit') ELSE 'off' END, true)
      FROM held) IS NOT NULL`;

const message = "keys were taken meanwhile, and nothing was stored";

/**
 * A column that aborts its statement, and all that it did, when the condition holds: outside functions, SQL has no
 * other way than a value that cannot be cast. The server's log shows the sentence.
 */
export const refuseIf = (condition: string) =>
  `(CASE WHEN ${condition} THEN '${message}: ' || now() ELSE '0' END)::int AS refused`;

/**
 * True for the error of `refuseIf`, and when another job got a unique key meanwhile: look again at what the keys name, and
 * try again.
 */
export function isTakenMeanwhile(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message.includes(message) || Reflect.get(error, "constraint_name") === "jobs_unique_key";
}
