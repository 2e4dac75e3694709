import { countChanges } from "../counts/changes.ts";
import { textArray } from "../database/literals.ts";
import type { JobRow } from "../database/schema/index.ts";
import { tcpUserTimeout } from "../database/transaction.ts";
import type { Lease, LeasedJob } from "./lease.ts";
import { payloadBytes } from "../memory-budget/bytes.ts";

/**
 * What a lease has of its job. Where `whole` (a parameter) is true, the whole row is in place of the payload, for a remote
 * worker: see `wholeJob`. With more than 16 columns a row would be a slow object in Node.js, and workers used a quarter more of
 * the processor.
 */
export const leaseColumns = (whole: string) => `id, queue, type, priority, attempts, max_attempts,
              CASE WHEN ${whole}::text::boolean THEN row_to_json(jobs) ELSE payload END AS payload, timeout_seconds, backoff, last_error, group_key,
              flow_id, date_part('epoch', statement_timestamp() - run_at) AS waited_seconds,
              CASE WHEN traceparent IS NOT NULL THEN json_build_array(traceparent, tracestate, run_at > created_at) END AS trace`;

/** A row of `leaseColumns`: its trace is one column. */
export type LeaseRow = Lease & { trace?: [traceparent: string, tracestate: string | null, delayed: boolean] | null };

const times = [
  "run_at",
  "ready_at",
  "due_at",
  "dead_at",
  "created_at",
  "updated_at",
  "started_at",
  "finished_at",
  "locked_until",
  "kept_until",
  "unique_until",
  "expires_at",
] as const satisfies readonly (keyof JobRow)[];

/** The job of a lease that was asked for whole. */
export function wholeJob({ payload }: Lease): LeasedJob {
  const job = { ...(payload as Record<string, unknown>) };
  for (const time of times) {
    const at = job[time];
    if (typeof at === "string") job[time] = new Date(at);
  }
  return job as LeasedJob;
}

/** Give a lease the trace of its row. */
export function readTrace(row: LeaseRow): void {
  if (row.trace) [row.traceparent, row.tracestate, row.delayed] = row.trace;
}

// One of a group learns whether others wait behind it: its worker may then go on with the next.
// The order makes it a look into the index: behind a long line, EXISTS would go through the table to the first of them.
const isFollowed = `CASE WHEN group_key IS NOT NULL THEN (
      SELECT true FROM atlasqueue.jobs AS behind
      WHERE behind.tenant = jobs.tenant AND behind.queue = jobs.queue AND behind.group_key = jobs.group_key AND behind.group_seq > 0
      ORDER BY behind.group_seq LIMIT 1
    ) IS NOT NULL END AS followed`;
const columns = `${leaseColumns("$5")}, ${isFollowed}, ${payloadBytes} AS payload_bytes`;

// All of one tenant, so its name need not come back with every job.
const counted = countChanges("(SELECT $4 AS tenant, queue FROM leased) AS leased", {
  queued: "-count(*)",
  running: "count(*)",
});

/** The names of $1 to $6 in what `takeLeases` gives. */
export const leaseTerms = ["lease_token", "worker_id", "lease_seconds", "tenant", "whole", "types"];

/** A condition on rows of jobs: an attempt has counted, or the time to begin the first is not over. */
export const isNotExpired = "(expires_at IS NULL OR attempts > 0 OR expires_at > statement_timestamp())";

/** A condition on rows of jobs: of the types in this parameter, or of any type where that is empty. */
export const ofTypes = (parameter: string, row = "jobs") =>
  `(${parameter}::text = '' OR ${row}.type = ANY(ARRAY(SELECT unnest(nullif(${parameter}::text, '')::text[]))))`;
export const typesIn = (types: readonly string[] | undefined): string => (types ? textArray(types) : "");

/**
 * Parts of a WITH that turn queued jobs into running ones; `leased` has them. $1 token, $2 worker, $3 lease seconds,
 * $4 tenant, $5 whether whole, $6 types. A lease counts from its statement, as its transaction may have waited for the queue first. The token is
 * the key of the claim's row, so one that was taken back (`revokeClaim`) is refused, however late it arrives.
 */
export const takeLeases = (which: string) => `
  leased AS (
    UPDATE atlasqueue.jobs SET status = 'running', ready_at = NULL, attempts = attempts + 1, lease_token = $1::text::uuid,
                    worker_id = $2, started_at = statement_timestamp(), updated_at = statement_timestamp(),
                    locked_until = statement_timestamp() + make_interval(secs => $3::float8)
    WHERE ${which} AND status = 'queued' AND ${isNotExpired} AND ${ofTypes("$6")} AND ${tcpUserTimeout}
    RETURNING ${columns}
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
