import { unindexed } from "../../database/literals.ts";
import { impatient } from "../../database/skip-locked.ts";

/**
 * Parts of a WITH that lock arrived jobs of those `asked` for, which `ours` then has. The jobs' rows come before all other
 * locks, as with jobs to be replaced.
 *
 * What another process is admitting, or has ended, is skipped. As that process may be waiting for a key, with the group
 * still to come, no job behind such a one in its group takes a place before it; nor behind one that was to end here, as
 * the next look may find that it is to run. A `hasty` statement is impatient.
 */
export const takeArrived = (hasty: boolean) => `waiting AS MATERIALIZED (
    SELECT job_id FROM atlasqueue.arrivals WHERE job_id = ANY($1::uuid[]) FOR UPDATE SKIP LOCKED
  ), arrived AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT job_id FROM waiting)) AND ${unindexed("group_seq")} = 0
    FOR UPDATE SKIP LOCKED
  ), skipped AS MATERIALIZED (
    SELECT id, tenant, queue, group_key FROM asked
    WHERE role <> 'note' AND group_key IS NOT NULL AND id NOT IN (SELECT id FROM arrived)
  ), ours AS MATERIALIZED (
    SELECT * FROM asked
    WHERE ${hasty ? `${impatient} AND ` : ""}(id IN (SELECT id FROM arrived) OR role = 'note' AND id IN (SELECT job_id FROM waiting))
      AND NOT EXISTS (
        SELECT FROM skipped
        WHERE (skipped.tenant, skipped.queue, skipped.group_key) = (asked.tenant, asked.queue, asked.group_key)
          AND skipped.id < asked.id)
  )`;
