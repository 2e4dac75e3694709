/**
 * A column that is always true, and makes its statement's transaction wait at its end for the synchronous standby, if
 * one is configured, like a write. For looks that answer "it is done" about what another statement wrote: that one may
 * have been cancelled while it waited, and then its row is visible here and known nowhere else. A record in the log is
 * what makes PostgreSQL wait. As a column it is evaluated once, and only when there is a row.
 */
export const replicated = `(
    SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN true
                ELSE pg_logical_emit_message(true, 'atlasqueue', '') IS NOT NULL END) AS replicated`;
