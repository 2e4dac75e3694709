import { countChanges } from "../counts/changes.ts";
import { notHeldUnread } from "../database/transaction.ts";
import type { Lease } from "./lease.ts";
import { payloadBytes } from "./payload-bytes.ts";

/** What is returned of a job: what a worker needs to run it, or all of it, for a remote one. */
export type Width = "lease" | "whole";

// No more than 16 columns in a row: with more it is a slow object in Node.js, and workers used a quarter more of the processor.
const lease =
  "id, queue, type, priority, attempts, max_attempts, payload, timeout_seconds, backoff, last_error, group_key, flow_id, " +
  "date_part('epoch', statement_timestamp() - run_at) AS waited_seconds, " +
  "CASE WHEN traceparent IS NOT NULL THEN json_build_array(traceparent, tracestate, run_at > created_at) END AS trace";
/** What a lease has of its job. */
export const leaseColumns: Record<Width, string> = { lease, whole: "*" };

/** A row of `leaseColumns`: its trace is one column. */
export type LeaseRow = Lease & { trace?: [traceparent: string, tracestate: string | null, delayed: boolean] | null };

/** Give a lease the trace of its row. */
export function readTrace(row: LeaseRow): void {
  if (row.trace) [row.traceparent, row.tracestate, row.delayed] = row.trace;
}

// One of a group is told whether others wait behind it: its worker may then go on with the next.
// The order makes it a look into the index: behind a long line, EXISTS would go through the table to the first of them.
const isFollowed = `CASE WHEN group_key IS NOT NULL THEN (
      SELECT true FROM atlasqueue.jobs AS behind
      WHERE behind.tenant = jobs.tenant AND behind.queue = jobs.queue AND behind.group_key = jobs.group_key AND behind.group_seq > 0
      ORDER BY behind.group_seq LIMIT 1
    ) IS NOT NULL END AS followed`;
const columns: Record<Width, string> = {
  lease: `${lease}, ${isFollowed}, ${payloadBytes} AS payload_bytes`,
  whole: `*, ${payloadBytes} AS payload_bytes`,
};

// All of one tenant, so its name need not come back with every job.
const counted = countChanges("(SELECT $4 AS tenant, queue FROM leased) AS leased", {
  queued: "-count(*)",
  running: "count(*)",
});

/** The names of $1 to $4 in what `takeLeases` gives. */
export const leaseTerms = ["lease_token", "worker_id", "lease_seconds", "tenant"];

/**
 * Parts of a WITH that turn queued jobs into running ones; `leased` has them. $1 token, $2 worker, $3 lease seconds,
 * $4 tenant. A lease counts from its statement, as its transaction may have waited for the queue first. The token is
 * the key of the claim's row, so one that was taken back (`take-back.ts`) is refused, however late it arrives.
 */
export const takeLeases = (which: string, width: Width) => `
  leased AS (
    UPDATE atlasqueue.jobs SET status = 'running', ready_at = NULL, attempts = attempts + 1, lease_token = $1::text::uuid,
                    worker_id = $2, started_at = statement_timestamp(), updated_at = statement_timestamp(),
                    locked_until = statement_timestamp() + make_interval(secs => $3::float8)
    WHERE ${which} AND status = 'queued' AND ${notHeldUnread}
    RETURNING ${columns[width]}
  ), batch AS (
    INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
    SELECT $4, $1::text::uuid, $2, statement_timestamp() + make_interval(secs => $3::float8), array_agg(id) FROM leased HAVING count(*) > 0
  ), ${counted}`;

/**
 * A condition that is always true, for the part that reads `leased` at the end of a claim without limits: its commit
 * waits for the disk only when it took a job of a group. If a database crash forgets the claim of any other job, that
 * job is simply still queued; with a group or a limit, a second job would start beside the first.
 */
export const syncedForGroups = `(
    SELECT set_config('synchronous_commit',
      CASE WHEN bool_or(group_key IS NOT NULL) THEN current_setting('synchronous_commit') ELSE 'off' END, true)
    FROM leased) IS NOT NULL`;
