/**
 * A column that is always true, and makes its statement's transaction wait at its end for the synchronous standby, as a
 * write does, when there is to be one. For looks that answer "it is done" of what another statement wrote: that one may
 * have been cancelled while it waited, and its row is then seen here and known nowhere else. A record in the log is what
 * makes PostgreSQL wait. As a column it is asked once, and only when there is a row.
 */
export const replicated = `(
    SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN true
                ELSE pg_logical_emit_message(true, 'atlasqueue', '') IS NOT NULL END) AS replicated`;
