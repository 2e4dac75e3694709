import { countChanges } from "../counts/changes.ts";
import { hidden } from "../database/literals.ts";
import { notHeldUnread } from "../database/transaction.ts";
import { claim_bytes_max, payloadBytes } from "../lease/payload-bytes.ts";
import { leaseColumns, type Width } from "../lease/take-leases.ts";
import { isLimited } from "../limits/room.ts";

/** A condition that is not made a join, which would be planned for the few rows expected and loop over hundreds. */
const hashed = (condition: string) => `CASE WHEN true THEN ${condition} END`;

/** The names of the parameters of `takeNext`, in its order. */
export const nextParameters = ["going_on", "next_token", "worker_id", "lease_seconds"];

/**
 * Parts of a WITH that follow `settled`, the jobs that have just succeeded: for those whose ids are in the first
 * parameter, the next of their group is leased at once. `leased` has them. `first` is the number of that parameter, and
 * those after it are the token, the worker and the seconds of the lease. A group that cannot go on like this is left to
 * its note: if its queue is paused, has limits, has its groups take turns, or lets several jobs of a group run; if none
 * is waiting, or the next is not due, or locked by another transaction; and once the payloads together are as many
 * bytes as a claim may have.
 *
 * The group's row is not locked, nor changed, so that neither waits for those that add to it: the place of the one job
 * that has its turn is passed on, and none becomes free. `heads` may name an earlier job from then on: it stands for the
 * one that has `holds_group`. Places are given in commit order under the group's lock, so a snapshot that has a waiting
 * job has all those before it.
 */
export const takeNext = (first: number, width: Width) => `
  going_on AS MATERIALIZED (
    SELECT next.lies_at, next.id, next.blocked_seq
    FROM settled CROSS JOIN LATERAL (
      SELECT ctid AS lies_at, id, blocked_seq FROM jobs
      WHERE jobs.tenant = settled.tenant AND jobs.queue = settled.queue AND jobs.group_key = settled.group_key AND blocked_seq > 0
      ORDER BY blocked_seq LIMIT 1) AS next
    WHERE ${hashed(`settled.id IN (SELECT unnest(${hidden(`$${first}::uuid[]`)}))`)}
      AND NOT EXISTS (
        SELECT FROM queues WHERE queues.tenant = settled.tenant AND queues.queue = settled.queue
          AND (paused_at IS NOT NULL OR group_concurrency > 1 OR fair_by IS NOT NULL OR ${isLimited}))
      AND (
        SELECT cardinality(heads) = 1 FROM job_groups AS one
        WHERE one.tenant = settled.tenant AND one.queue = settled.queue AND one.group_key = settled.group_key)
  ), due AS MATERIALIZED (
    SELECT ctid AS lies_at, id, ${payloadBytes} AS bytes FROM jobs
    WHERE ctid = ANY(ARRAY(SELECT lies_at FROM going_on)) AND ${hashed("(id, blocked_seq) IN (SELECT id, blocked_seq FROM going_on)")}
      AND run_at <= statement_timestamp()
    FOR NO KEY UPDATE SKIP LOCKED
  ), leased AS (
    UPDATE jobs SET status = 'running', blocked_seq = NULL, holds_group = group_key, attempts = attempts + 1,
                    lease_token = $${first + 1}::text::uuid, worker_id = $${first + 2},
                    started_at = statement_timestamp(), updated_at = statement_timestamp(),
                    locked_until = statement_timestamp() + make_interval(secs => $${first + 3}::float8)
    WHERE ctid = ANY(ARRAY(
        SELECT lies_at FROM (SELECT lies_at, sum(bytes) OVER (ORDER BY id) - bytes AS before FROM due) AS weighed
        WHERE before < ${claim_bytes_max}))
      AND status = 'blocked' AND ${notHeldUnread}
    RETURNING ${width === "whole" ? "*" : `tenant, ${leaseColumns[width]}`}
  ), batch AS (
    INSERT INTO lease_batches (token, worker_id, check_at, job_ids)
    SELECT $${first + 1}::text::uuid, $${first + 2}, statement_timestamp() + make_interval(secs => $${first + 3}::float8), array_agg(id)
    FROM leased HAVING count(*) > 0
  ), ${countChanges(
    "(SELECT tenant, queue, false AS taken FROM settled UNION ALL SELECT tenant, queue, true FROM leased) AS moved",
    {
      blocked: "-count(*) FILTER (WHERE taken)",
      running: "count(*) FILTER (WHERE taken) - count(*) FILTER (WHERE NOT taken)",
      succeeded: "count(*) FILTER (WHERE NOT taken)",
    },
  )}, left_to_notes AS (
    SELECT tenant, queue, group_key FROM settled
    WHERE (tenant, queue, group_key) NOT IN (SELECT tenant, queue, group_key FROM leased)
  )`;
