/**
 * A condition that is always true, and keeps its transaction's commit from waiting for the disk: for what a database
 * crash may forget. It is inside the statement, so that it works through any pooler and affects nothing else. The
 * sub-select must stay: PostgreSQL evaluates it once, and a bare call would run once per row.
 */
export const unsynced = "(SELECT set_config('synchronous_commit', 'off', true)) = 'off'";

/**
 * The same for renewals of the leases in `held`, a part of the WITH with the `locked_until` of each: their commit waits
 * for the disk when less than half of the time asked for is left of one of them. A lease whose renewal a crash forgets then
 * lasts until the next one of a holder that renews it twice in its time; what a longer or a late one was told holds.
 */
export const unsyncedUnlessLate = (seconds: string) => `(
      SELECT set_config('synchronous_commit',
        CASE WHEN bool_or(locked_until < now() + make_interval(secs => ${seconds}::float8 / 2))
             THEN current_setting('synchronous_commit') ELSE 'off' END, true)
      FROM held) IS NOT NULL`;
