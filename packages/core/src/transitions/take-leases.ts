import { unsynced } from "../database/unsynced.ts";
import { countChanges } from "./count-changes.ts";

/** What comes back of a job: what a worker needs to run it, or all of it, for a remote one. */
export type Width = "lease" | "whole";

const columns: Record<Width, string> = {
  // Everything else would come back with each of thousands.
  lease: "id, queue, type, priority, attempts, max_attempts, payload, timeout_seconds, backoff, last_error, group_key",
  whole: "*",
};

// Of one tenant, so its name need not come back with every job.
const counted = countChanges("(SELECT $4 AS tenant, queue FROM leased) AS leased", {
  queued: "-count(*)",
  running: "count(*)",
});

/**
 * Parts of a WITH that turn queued jobs into running ones; `leased` has them. $1 token, $2 worker, $3 lease seconds,
 * $4 tenant. A lease counts from its statement, as its transaction may have waited for the queue before. Not synced to
 * disk: if a crash of the database forgets it, the job is simply still queued.
 */
export const takeLeases = (which: string, width: Width) => `
  leased AS (
    UPDATE jobs SET status = 'running', ready_at = NULL, attempts = attempts + 1, lease_token = $1::text::uuid,
                    worker_id = $2, started_at = statement_timestamp(), updated_at = statement_timestamp(),
                    locked_until = statement_timestamp() + make_interval(secs => $3::float8)
    WHERE ${which} AND status = 'queued' AND ${unsynced}
    RETURNING ${columns[width]}
  ), batch AS (
    INSERT INTO lease_batches (token, worker_id, check_at, job_ids)
    SELECT $1::text::uuid, $2, statement_timestamp() + make_interval(secs => $3::float8), array_agg(id) FROM leased HAVING count(*) > 0
  ), ${counted}`;
