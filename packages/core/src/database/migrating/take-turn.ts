// "AtlasQ" in ASCII: any fixed number that other programs in the same database are unlikely to pick.
const migrationLock = 0x41746c617351;

/**
 * How long we may be silent in a transaction. The server's own limit may be shorter than our rests; without one, a
 * process that stands still would keep its table from everybody.
 */
const idle_ms = 10_000;

/**
 * Takes the turn to migrate, if no other process has it: only asked for, as waiting for it in a transaction would hold
 * back VACUUM. An autovacuum gives way to who has waited for `deadlock_timeout`. PostgreSQL 16 has no
 * `transaction_timeout`. The commit does not wait for a standby, which would keep the locks for as long as that is away;
 * `waitForStandby` does, once.
 */
export const takeTurn = (patient: boolean, lock_ms: number) => `
  SELECT pg_backend_pid() AS pid, pg_try_advisory_xact_lock(${migrationLock}) AS taken,
    set_config('lock_timeout', greatest(${lock_ms}, CASE WHEN ${patient} THEN (
      SELECT least(setting::int + 100, 1400) FROM pg_settings WHERE name = 'deadlock_timeout') END)::text, true),
    set_config('idle_in_transaction_session_timeout', '${idle_ms}', true),
    set_config('statement_timeout', '0', true),
    CASE WHEN current_setting('synchronous_commit') <> 'off' THEN set_config('synchronous_commit', 'local', true) END,
    CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
      THEN set_config('transaction_timeout', '0', true) END`;
