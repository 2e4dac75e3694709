import { composed } from "../../database/composed.ts";
import { groupMayStart, startsWithin } from "../../limits/room.ts";
import { front_jobs_max } from "../../limits/within-rates.ts";
import { noteStarts } from "../../limits/note-starts.ts";
import { claim_bytes_max, payloadBytes } from "../payload-bytes.ts";
import { leaseTerms, takeLeases, type Width } from "../take-leases.ts";

// The statement of a claim within limits, after those that locked its queues and looked how much room they have.

/**
 * What one statement of the transaction tells the next through the server, as they are sent together. It ends with the
 * transaction, so whatever is sent again outside of it, by the driver or a pooler, claims nothing.
 */
export const note = (name: "locked" | "room", json: string) => `set_config('atlasqueue.${name}', ${json}::text, true)`;
export const noted = (name: "locked" | "room") => `nullif(current_setting('atlasqueue.${name}', true), '')::json`;

/**
 * The parts in which claims differ: `candidates` are (id, queue, group_key, place), and of those `chosen` the `free` ones
 * are (id, place, bytes), locked.
 */
type Parts = { candidates: string; most: string; bound?: string; free: string; answer: string };

/**
 * $1 token, $2 worker, $3 lease seconds, $4 tenant; the queues with room are noted. From each queue the first candidates
 * go, as many as there is room for, and from each group as many as its rate allows.
 */
const claiming = (name: string, last: readonly ("ids" | "older" | "jobs_max")[], parts: Parts) => {
  const text = (width: Width) => composed(`lease/${name}-${width}`, [...leaseTerms, ...last], withWidth(parts, width));
  return { lease: text("lease"), traced: text("traced"), whole: text("whole") };
};

const withWidth = ({ candidates, most, bound = "", free, answer }: Parts, width: Width) => `
  WITH open AS MATERIALIZED (
    SELECT queues.*, has.room::int AS room FROM json_each_text(${noted("room")}) AS has(name, room)
    JOIN atlasqueue.queues ON queues.tenant = $4 AND queues.queue = has.name
  ), candidates AS MATERIALIZED (${candidates}), in_group AS (
    SELECT candidates.*, room, fair_by, group_key IS NULL OR group_rate_limit IS NULL OR (
      row_number() OVER (PARTITION BY candidates.queue, group_key ORDER BY place) <= group_rate_limit - (
        SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
        WHERE ${startsWithin("open", "= candidates.group_key", "group_rate_period_seconds")})) AS may_start
    FROM candidates JOIN open ON open.queue = candidates.queue
  ), numbered AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY queue ORDER BY place) AS number FROM in_group WHERE may_start
  ), chosen AS MATERIALIZED (
    SELECT * FROM numbered WHERE number <= ${most} ${bound}
  ), weighed AS MATERIALIZED (
    SELECT id, sum(bytes) OVER (ORDER BY place) - bytes AS before FROM (${free}) AS free
  ), ${takeLeases(`id = ANY(ARRAY(SELECT id FROM weighed WHERE before < ${claim_bytes_max}))`, width)}, ${noteStarts}
  ${answer}`;

/** Whichever of its jobs is first may start, as its groups have no rate. */
const anyMayGo = "group_rate_limit IS NULL";

// Locked after the choice, as far more ids may be given than there is room for. Each id is worth one start: where any job
// may go, the older ones go first, and ids that these were worth are put back.
export const byId = claiming("claim-limited", ["ids", "older"], {
  candidates: `
    SELECT jobs.id, jobs.queue, jobs.group_key, jobs.priority, given,
           count(*) FILTER (WHERE given) OVER (PARTITION BY jobs.queue) AS starts,
           CASE WHEN ${anyMayGo} THEN row_number() OVER (ORDER BY jobs.priority DESC, jobs.ready_at, jobs.id) ELSE place END AS place
    FROM (
      SELECT id, place, true AS given FROM unnest($5::uuid[]) WITH ORDINALITY AS ids(id, place)
      UNION ALL SELECT id, 0, false FROM unnest($6::uuid[]) AS older(id)) AS wanted
    JOIN atlasqueue.jobs ON jobs.id = wanted.id JOIN open ON open.queue = jobs.queue
    WHERE jobs.tenant = $4 AND jobs.status = 'queued' AND (given OR ${anyMayGo})`,
  most: "least(room, starts)",
  free: `
      SELECT jobs.id, place, ${payloadBytes} AS bytes FROM chosen JOIN atlasqueue.jobs ON jobs.id = chosen.id
      WHERE jobs.status = 'queued' FOR NO KEY UPDATE OF jobs SKIP LOCKED`,
  // Groups that take turns have more signalled than there is room for, so that the next id comes by itself.
  answer: `SELECT leased.*, passed_over, overtaken, wait FROM (
    SELECT json_agg(queue) AS passed_over FROM chosen
    WHERE fair_by IS NULL AND id NOT IN (SELECT id FROM weighed)) AS others, (
    SELECT json_agg(json_build_object('id', id, 'queue', queue, 'priority', priority) ORDER BY place)
             FILTER (WHERE given AND number > starts AND starts <= room) AS overtaken,
           json_agg(id) FILTER (WHERE NOT given AND id NOT IN (SELECT id FROM chosen)) AS wait
    FROM numbered) AS all_of_them LEFT JOIN leased ON true`,
});

// Locked before the choice, or jobs that others hold would be chosen each time, and stand in front of the whole queue.
// The look at a row by its id lets only those be locked that may start, one after the other until they are enough: in a
// queue without a group rate as many as there is room for. We must not look only at jobs whose groups have used up their
// rate. The candidates are bounded per queue, as a queue without room must not crowd out the others, and overall by what
// the caller has room for.
export const oldest = claiming("claim-limited-oldest", ["jobs_max"], {
  candidates: `
    SELECT ready.id, ready.queue, ready.group_key, bytes, row_number() OVER (ORDER BY priority DESC, ready_at, id) AS place
    FROM open AS served, LATERAL (
      SELECT front.*, bytes FROM (
        SELECT id, jobs.queue, group_key, priority, ready_at FROM atlasqueue.jobs
        WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL
        ORDER BY priority DESC, ready_at, id LIMIT ${front_jobs_max}) AS front, LATERAL (
        SELECT ${payloadBytes} AS bytes FROM atlasqueue.jobs
        WHERE jobs.id = front.id AND status = 'queued' FOR NO KEY UPDATE SKIP LOCKED) AS free
      WHERE ${groupMayStart("served", "front")}
      ORDER BY priority DESC, ready_at, id
      LIMIT least($5::int, CASE WHEN served.group_rate_limit IS NULL THEN served.room END)) AS ready`,
  most: "room",
  bound: "ORDER BY place LIMIT $5::int",
  free: "SELECT id, place, bytes FROM chosen",
  answer: "SELECT * FROM leased",
});
