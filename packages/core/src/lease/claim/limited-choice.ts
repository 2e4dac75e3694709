import { composed } from "../../database/composed.ts";
import { unindexed } from "../../database/literals.ts";
import { holderOf } from "../../groups/join.ts";
import { groupMayStart, startsWithin } from "../../limits/capacity.ts";
import { noteStarts } from "../../limits/note-starts.ts";
import { isNotExpired, leaseTerms, ofTypes, takeLeases } from "../take-leases.ts";

// The statement of a claim within limits and in turns, after those that locked its queues and looked how much room they have.

/**
 * What one statement of the transaction tells the next through the server, as they are sent together. It ends with the
 * transaction, so whatever is sent again outside of it, by the driver or a pooler, claims nothing.
 */
export const note = (name: "locked" | "room", json: string) => `set_config('atlasqueue.${name}', ${json}::text, true)`;
export const noted = (name: "locked" | "room") => `nullif(current_setting('atlasqueue.${name}', true), '')::json`;

/**
 * Ready jobs that a claim looks at to find some whose groups may start: 20 ms. Jobs behind as many of groups that have used
 * up their rate wait until those have starts again.
 */
const front_jobs_max = 5_000;
/** Ready jobs that a claim of a queue with turns looks at; with more, groups that are not among them are found by their rows. */
const turn_jobs_max = 1_000;

const columns = "jobs.id, jobs.queue, jobs.group_key, jobs.priority, jobs.ready_at";
const front = (rows_max: number) => `
        SELECT ${columns} FROM atlasqueue.jobs
        WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL AND ${isNotExpired} AND ${ofTypes("$6")}
        ORDER BY priority DESC, ready_at, id LIMIT ${rows_max}`;

/** Those of `ordered` that may start, locked one after the other until they are enough; others may hold some locked. */
const firstFree = (ordered: string) => `
      SELECT ordered.* FROM (${ordered}) AS ordered, LATERAL (
        SELECT FROM atlasqueue.jobs
        WHERE jobs.id = ordered.id AND status = 'queued' FOR NO KEY UPDATE SKIP LOCKED) AS free
      WHERE ${groupMayStart("served", "ordered")}`;

// In a queue without a group rate, as many as there is room for.
const enough = "LIMIT least($7::int, CASE WHEN served.group_rate_limit IS NULL THEN served.room END)";

const oldest = `
      SELECT * FROM (${firstFree(front(front_jobs_max))}) AS free ORDER BY priority DESC, ready_at, id ${enough}`;

// One job of each group, of those that started least recently first, then the second of each. Jobs without a group are
// one group. The last start of a group is in its row, so sorting all rows of the queue (40 ms for 100,000) is left to queues
// whose first ready jobs are not all there are.
const inTurn = `
      WITH front AS MATERIALIZED (${front(turn_jobs_max)}
      ), seen AS (
        SELECT * FROM front
        UNION
        (SELECT head.* FROM (
           SELECT * FROM atlasqueue.job_groups
           WHERE tenant = $4 AND job_groups.queue = served.queue AND (SELECT count(*) FROM front) = ${turn_jobs_max}
           ORDER BY last_started_at) AS one, LATERAL (
           SELECT ${columns} FROM atlasqueue.jobs
           WHERE jobs.id = ANY(one.heads || ARRAY(${holderOf("one")})) AND ${unindexed("jobs.ready_at")} IS NOT NULL AND ${ofTypes("$6")}
           ORDER BY jobs.priority DESC, jobs.ready_at, jobs.id LIMIT 1) AS head
         LIMIT $7::int)
      )${firstFree(`
        SELECT seen.* FROM seen LEFT JOIN atlasqueue.job_groups AS own
          ON own.tenant = $4 AND own.queue = seen.queue AND own.group_key = seen.group_key
        ORDER BY priority DESC, row_number() OVER (PARTITION BY priority, seen.group_key ORDER BY ready_at, id),
                 CASE WHEN seen.group_key IS NULL THEN served.ungrouped_started_at ELSE last_started_at END NULLS FIRST, ready_at, id`)}
      ${enough}`;

const inOrder = (rows: string) => `SELECT *, row_number() OVER () AS number FROM (${rows}) AS one`;

// A group whose row is locked keeps the time of its start before: its turn may come early, and nobody waits.
const noteTurns = `
  turned AS (
    SELECT DISTINCT queue, group_key FROM leased JOIN open USING (queue) WHERE fair_by IS NOT NULL
  ), turn_of_groups AS (
    UPDATE atlasqueue.job_groups SET last_started_at = statement_timestamp() WHERE ctid = ANY(ARRAY(
      SELECT own.ctid FROM turned JOIN atlasqueue.job_groups AS own
        ON own.tenant = $4 AND own.queue = turned.queue AND own.group_key = turned.group_key
      FOR NO KEY UPDATE OF own SKIP LOCKED))
  ), turn_of_ungrouped AS (
    UPDATE atlasqueue.queues SET ungrouped_started_at = statement_timestamp()
    FROM turned WHERE queues.tenant = $4 AND queues.queue = turned.queue AND turned.group_key IS NULL
  )`;

/**
 * $1 token, $2 worker, $3 lease seconds, $4 tenant, $5 whether whole, $6 types, $7 jobs; the queues with room are noted. Of each queue the first jobs go,
 * as many as there is room for, and of each group as many as its rate allows. Queues share the jobs. They are locked before the
 * choice, or jobs that others hold would be chosen each time, and stand in front of the whole queue.
 */
export const claimLimitedText = composed(
  "lease/claim-limited",
  [...leaseTerms, "jobs_max"],
  `
  WITH open AS MATERIALIZED (
    SELECT queues.*, has.room::int AS room FROM json_each_text(${noted("room")}) AS has(name, room)
    JOIN atlasqueue.queues ON queues.tenant = $4 AND queues.queue = has.name
  ), candidates AS MATERIALIZED (
    SELECT ready.*, row_number() OVER (ORDER BY priority DESC, number, ready_at, id) AS place FROM (
      SELECT first.* FROM (SELECT * FROM open WHERE fair_by IS NULL) AS served, LATERAL (${inOrder(oldest)}) AS first
      UNION ALL
      SELECT first.* FROM (SELECT * FROM open WHERE fair_by IS NOT NULL) AS served, LATERAL (${inOrder(inTurn)}) AS first) AS ready
  ), in_group AS (
    SELECT candidates.*, room, group_key IS NULL OR group_rate_limit IS NULL OR (
      row_number() OVER (PARTITION BY candidates.queue, group_key ORDER BY place) <= group_rate_limit - (
        SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
        WHERE ${startsWithin("open", "= candidates.group_key", "group_rate_period_seconds")})) AS may_start
    FROM candidates JOIN open ON open.queue = candidates.queue
  ), numbered AS MATERIALIZED (
    SELECT id, place, room, row_number() OVER (PARTITION BY queue ORDER BY place) AS nth FROM in_group WHERE may_start
  ), chosen AS MATERIALIZED (
    SELECT id FROM numbered WHERE nth <= room ORDER BY place LIMIT $7::int
  ), ${takeLeases("id = ANY(ARRAY(SELECT id FROM chosen))")}, ${noteStarts}, ${noteTurns}
  SELECT * FROM leased`,
);
