import { composed } from "../../database/composed.ts";
import { hidden, textArray, uuidArray } from "../../database/literals.ts";
import { executeOn } from "../../database/statement.ts";
import { notHeldIdle, sentTogether } from "../../database/transaction.ts";
import type { Deps } from "../../deps.ts";
import { groupMayStart, isLimited, roomIn, runningByQueue, startsWithin, type QueueRoom } from "../../limits/room.ts";
import { front_jobs_max } from "../../limits/within-rates.ts";
import { readyAmong } from "../../queues/ready-queues.ts";
import type { ReadyJob } from "../../signal/signal.ts";
import type { Claimer, Lease } from "../lease.ts";
import { noteStarts } from "../../limits/note-starts.ts";
import { claim_bytes_max, payloadBytes } from "../payload-bytes.ts";
import { impatient, passingOverLocked, type Form } from "../../database/skip-locked.ts";
import type { WithHolder } from "./locks-met.ts";
import { underToken } from "./under-token.ts";
import { leaseTerms, takeLeases, type Width } from "../take-leases.ts";

/**
 * queued → running in queues with limits, as far as there is room: for the remaining ids, or for a number of the
 * oldest. The lock of the queue's row is a statement of its own: those after it count what others committed before this
 * one got the lock, so a limit is never exceeded, however many claim at once. Of the queues
 * served, only those that the ids are in are locked, or those with a ready job, as all other claims of these wait. Synced
 * to disk, as a database crash that forgot a start would let another job start beside it. Ids that find no room are
 * dropped; finishing a job of the queue, and the sweep, signal the next ones. `passed_over` has the queue of each of them that had room and whose row another
 * transaction holds: it would be signalled again and again, and others may go in its place.
 *
 * @example
 * const { leases, passed_over } = await claimLimited(deps, claimer, ids, "lease");
 */
export async function claimLimited<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  which: readonly string[] | number,
  width: Width,
): Promise<Claimed<L>> {
  const queues = typeof which === "number" ? await withReadyJobs(deps, claimer) : await queuesOf(deps, claimer, which);
  if (queues.length === 0) return { leases: [], passed_over: [], by_group: [] };
  return passingOverLocked((form) => claimUnderLock(deps, claimer, which, queues, width, form));
}

async function withReadyJobs(deps: Deps, { tenant, queues }: Claimer): Promise<readonly WithHolder[]> {
  const refs = queues.map((queue) => ({ tenant, queue }));
  return (await readyAmong(deps, refs)).filter(({ limited }) => limited);
}

function queuesOf(deps: Deps, { tenant, queues }: Claimer, ids: readonly string[]): Promise<readonly WithHolder[]> {
  const params = [tenant, textArray(queues), uuidArray(ids)];
  return executeOn(deps.database)<WithHolder>({ text: limitedQueues, params });
}

type Claimed<L> = { leases: L[]; passed_over: readonly string[]; by_group: readonly string[] };

async function claimUnderLock<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  which: readonly string[] | number,
  queues: readonly WithHolder[],
  width: Width,
  form: Form,
): Promise<Claimed<L>> {
  const { tenant, worker_id, lease_seconds } = claimer;
  const [text, last] = typeof which === "number" ? [oldest[width], which] : [byId[width], uuidArray(which)];
  // A round trip between them would be one that everyone else waits for on the same queue.
  return underToken(claimer, async (lease_token) => {
    const names = textArray(queues.map(({ queue }) => queue));
    const holders = textArray(queues.map(({ holder }) => holder));
    const unwaited = form === "careful" ? queues : (claimer.locks?.stillHeld(tenant, queues) ?? []);
    const [, rooms, leases, busy = []] = await sentTogether(deps.database, [
      { text: lockQueues, params: [tenant, names, textArray(unwaited.map(({ queue }) => queue))] },
      { text: roomOfLocked, params: [tenant] },
      { text, params: [lease_token, worker_id, lease_seconds, tenant, last] },
      ...(unwaited.length > 0 && typeof which !== "number"
        ? [{ text: ofBusyQueues, params: [tenant, names, holders, last] }]
        : []),
    ]);
    claimer.locks?.noteHeld(tenant, queues, rooms as Room[]);
    reportThrottled(claimer, rooms as Room[]);
    if (busy.length > 0) claimer.put_back?.((busy as Omit<ReadyJob, "tenant">[]).map((job) => ({ ...job, tenant })));
    const by_group = (rooms as Room[]).filter((one) => one.by_group && one.room > 0).map(({ queue }) => queue);
    return { ...claimedIn(leases as Row<L>[], { tenant, lease_token, worker_id, limited: true }), by_group };
  });
}

/** Without a lease there is still one row, of nothing else. */
type Row<L> = L & { passed_over?: string[] | null };

function claimedIn<L extends Lease>(rows: readonly Row<L>[], common: Partial<Lease>): Omit<Claimed<L>, "by_group"> {
  const passed_over = rows[0]?.passed_over ?? [];
  for (const row of rows) delete row.passed_over;
  return { leases: rows.filter(({ id }) => id !== null).map((row) => Object.assign(row, common)), passed_over };
}

type Room = QueueRoom & { queue: string };

function reportThrottled({ tenant, throttled }: Claimer, rooms: readonly Room[]): void {
  for (const { queue, room, retry_in_ms } of rooms)
    if (room === 0 && retry_in_ms !== null) throttled?.({ tenant, queue }, Math.max(0, retry_in_ms));
}

const servedAndLimited = `
  FROM queues WHERE tenant = $1 AND queue = ANY($2::text[]) AND paused_at IS NULL AND ${isLimited}`;
// The queue of a job never changes.
const limitedQueues = composed(
  "lease/limited-queues",
  ["tenant", "queues", "ids"],
  `SELECT queue, xmax::text AS holder ${servedAndLimited} AND queue = ANY(ARRAY(
    SELECT queue FROM jobs WHERE id = ANY(${hidden("$3::uuid[]")}) AND tenant = $1 AND status = 'queued'))`,
);

/**
 * What one statement of the transaction tells the next through the server, as they are sent together. It ends with the
 * transaction, so whatever is sent again outside of it, by the driver or a pooler, claims nothing.
 */
const note = (name: "locked" | "room", json: string) => `set_config('atlasqueue.${name}', ${json}::text, true)`;
const noted = (name: "locked" | "room") => `nullif(current_setting('atlasqueue.${name}', true), '')::json`;

const toLock = `SELECT queue ${servedAndLimited} AND ${notHeldIdle}`;
const lockQueues = composed(
  "lease/lock-queues",
  ["tenant", "queues", "unwaited"],
  `
  SELECT ${note("locked", "json_agg(queue)")} FROM (
    SELECT queue FROM (${toLock} AND queue <> ALL($3::text[]) AND ${impatient} ORDER BY queue FOR UPDATE) AS waited
    UNION ALL
    SELECT queue FROM (${toLock} AND queue = ANY($3::text[]) ORDER BY queue FOR UPDATE SKIP LOCKED) AS unwaited) AS locked`,
);

/**
 * Those of the ids whose queues could not be locked and have changed hands while we waited: other claims are taking jobs
 * of them, one after the other. A queue that one transaction has held all the time is left to the sweep, or it would be
 * waited for again and again, by claims that are for other queues as well.
 */
const ofBusyQueues = composed(
  "lease/of-busy-queues",
  ["tenant", "queues", "holders", "ids"],
  `
  SELECT jobs.id, jobs.queue, jobs.priority
  FROM unnest($4::uuid[]) WITH ORDINALITY AS given(id, place) JOIN jobs ON jobs.id = given.id
  JOIN unnest($2::text[], $3::text[]) AS wanted(queue, holder) ON wanted.queue = jobs.queue
  JOIN queues ON queues.tenant = $1 AND queues.queue = wanted.queue AND queues.xmax::text <> wanted.holder
  WHERE jobs.tenant = $1 AND jobs.status = 'queued' AND jobs.queue NOT IN (SELECT json_array_elements_text(${noted("locked")}))
  ORDER BY place`,
);

const roomOfLocked = composed(
  "lease/room-of-queues",
  ["tenant"],
  `
  WITH locked AS MATERIALIZED (
    SELECT json_array_elements_text(${noted("locked")}) AS queue
  ), known AS MATERIALIZED (${runningByQueue("$1", "SELECT queue FROM locked")}
  ), rooms AS MATERIALIZED (
    SELECT queue, ${roomIn("queues", "coalesce(known.running, 0)")} FROM queues LEFT JOIN known USING (queue)
    WHERE tenant = $1 AND queue = ANY(ARRAY(SELECT queue FROM locked))
  )
  SELECT *, (SELECT ${note("room", "json_object_agg(queue, room)")} FROM rooms WHERE room > 0) AS noted FROM rooms`,
);

/**
 * The parts in which claims differ: `candidates` are (id, queue, group_key, place), and of those `chosen` the `free` ones
 * are (id, place, bytes), locked.
 */
type Parts = { candidates: string; bound?: string; free: string; answer: string };

/**
 * $1 token, $2 worker, $3 lease seconds, $4 tenant; the queues with room are noted. From each queue the first candidates
 * go, as many as there is room for, and from each group as many as its rate allows.
 */
const claiming = (name: string, last: "ids" | "jobs_max", parts: Parts) => {
  const text = (width: Width) => composed(`lease/${name}-${width}`, [...leaseTerms, last], withWidth(parts, width));
  return { lease: text("lease"), traced: text("traced"), whole: text("whole") };
};

const withWidth = ({ candidates, bound = "", free, answer }: Parts, width: Width) => `
  WITH open AS MATERIALIZED (
    SELECT queues.*, has.room::int AS room FROM json_each_text(${noted("room")}) AS has(name, room)
    JOIN queues ON queues.tenant = $4 AND queues.queue = has.name
  ), candidates AS MATERIALIZED (${candidates}), in_group AS (
    SELECT candidates.*, room, fair_by, group_key IS NULL OR group_rate_limit IS NULL OR (
      row_number() OVER (PARTITION BY candidates.queue, group_key ORDER BY place) <= group_rate_limit - (
        SELECT coalesce(sum(count), 0) FROM queue_starts
        WHERE ${startsWithin("open", "= candidates.group_key", "group_rate_period_seconds")})) AS may_start
    FROM candidates JOIN open ON open.queue = candidates.queue
  ), chosen AS MATERIALIZED (
    SELECT * FROM (
      SELECT *, row_number() OVER (PARTITION BY queue ORDER BY place) AS number FROM in_group WHERE may_start) AS numbered
    WHERE number <= room ${bound}
  ), weighed AS MATERIALIZED (
    SELECT id, sum(bytes) OVER (ORDER BY place) - bytes AS before FROM (${free}) AS free
  ), ${takeLeases(`id = ANY(ARRAY(SELECT id FROM weighed WHERE before < ${claim_bytes_max}))`, width)}, ${noteStarts}
  ${answer}`;

// Locked after the choice, as far more ids may be given than there is room for.
const byId = claiming("claim-limited", "ids", {
  candidates: `
    SELECT jobs.id, jobs.queue, jobs.group_key, wanted.place
    FROM unnest($5::uuid[]) WITH ORDINALITY AS wanted(id, place) JOIN jobs ON jobs.id = wanted.id
    WHERE jobs.tenant = $4 AND jobs.status = 'queued'`,
  free: `
      SELECT jobs.id, place, ${payloadBytes} AS bytes FROM chosen JOIN jobs ON jobs.id = chosen.id
      WHERE jobs.status = 'queued' FOR NO KEY UPDATE OF jobs SKIP LOCKED`,
  // Groups that take turns have more signalled than there is room for, so that the next id comes by itself.
  answer: `SELECT leased.*, passed_over FROM (
    SELECT json_agg(queue) AS passed_over FROM chosen
    WHERE fair_by IS NULL AND id NOT IN (SELECT id FROM weighed)) AS others LEFT JOIN leased ON true`,
});

// Locked before the choice, or jobs that others hold would be chosen each time, and stand in front of the whole queue.
// The look at a row by its id lets only those be locked that may start, one after the other until they are enough: in a
// queue without a group rate as many as there is room for. We must not look only at jobs whose groups have used up their
// rate. The candidates are bounded per queue, as a queue without room must not crowd out the others, and overall by what
// the caller has room for.
const oldest = claiming("claim-limited-oldest", "jobs_max", {
  candidates: `
    SELECT ready.id, ready.queue, ready.group_key, bytes, row_number() OVER (ORDER BY priority DESC, ready_at, id) AS place
    FROM open AS served, LATERAL (
      SELECT front.*, bytes FROM (
        SELECT id, jobs.queue, group_key, priority, ready_at FROM jobs
        WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL
        ORDER BY priority DESC, ready_at, id LIMIT ${front_jobs_max}) AS front, LATERAL (
        SELECT ${payloadBytes} AS bytes FROM jobs
        WHERE jobs.id = front.id AND status = 'queued' FOR NO KEY UPDATE SKIP LOCKED) AS free
      WHERE ${groupMayStart("served", "front")}
      ORDER BY priority DESC, ready_at, id
      LIMIT least($5::int, CASE WHEN served.group_rate_limit IS NULL THEN served.room END)) AS ready`,
  bound: "ORDER BY place LIMIT $5::int",
  free: "SELECT id, place, bytes FROM chosen",
  answer: "SELECT * FROM leased",
});
