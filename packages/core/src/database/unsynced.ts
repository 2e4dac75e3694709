/**
 * A condition that is always true, and keeps its transaction's commit from waiting for the disk: for what a database
 * crash may forget. It is inside the statement, so that it works through any pooler and affects nothing else. The
 * sub-select must stay: PostgreSQL evaluates it once, and a bare call would run once per row.
 */
export const unsynced = "(SELECT set_config('synchronous_commit', 'off', true)) = 'off'";
