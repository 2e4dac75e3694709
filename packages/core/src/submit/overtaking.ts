/**
 * Whether one of its group came before that was lost, and may yet get its place there. New jobs behind it are left out, as
 * the keys they have taken by then name no job, and so are free. An arrived one's would name it: it is left out before it
 * takes any when the other's target was not had, for which somebody's lock is enough; and where a key was lost, which the
 * next look sees, the statement is undone.
 */
export const behind = (row: string, was_lost: string) => `EXISTS (
        SELECT FROM ours AS earlier
        WHERE (earlier.tenant, earlier.queue, earlier.group_key) = (${row}.tenant, ${row}.queue, ${row}.group_key)
          AND earlier.id < ${row}.id AND ${was_lost})`;
