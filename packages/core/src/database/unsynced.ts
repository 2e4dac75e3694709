/**
 * A condition that is always true, and makes the commit of its statement's transaction not wait for the disk: for what
 * a crash of the database may forget. Said inside the statement, so that it holds through any pooler and for nothing
 * else. The sub-select must stay: PostgreSQL evaluates it once, and a bare call would run once a row.
 */
export const unsynced = "(SELECT set_config('synchronous_commit', 'off', true)) = 'off'";
