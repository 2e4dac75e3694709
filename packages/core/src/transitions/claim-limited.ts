import { randomUUID } from "node:crypto";
import { textArray, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import { inTransaction, notHeldIdle } from "../database/transaction.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";
import { groupMayStart, isLimited, passed_over_max, roomIn, startsWithin } from "../queries/queue-room.ts";
import type { Claimer, Lease } from "./claim.ts";
import { noteStarts } from "./note-starts.ts";
import { takeLeases, type Width } from "./take-leases.ts";

/**
 * queued → running in queues with limits, as far as there is room: for the ids that are left over, or for so many of
 * the oldest. Two statements under the lock of the queue's row: the second counts what others committed before this one
 * got the lock, so a limit is never exceeded, whoever claims beside it. Ids that find no room are dropped; whoever
 * finishes a job of the queue, and the sweep, signal the next ones.
 *
 * @example
 * const leases = await claimLimited(deps, ids, claimer);
 */
export async function claimLimited<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  which: readonly string[] | number,
  width: Width,
): Promise<L[]> {
  const { tenant } = claimer;
  const asked = [tenant, textArray(claimer.queues)];
  const queues = await executeOn(deps.database)<{ queue: string }>({ text: limitedQueues, params: asked });
  if (queues.length === 0) return [];
  const lease_token = randomUUID();
  const leases = await inTransaction(deps.database, async (execute) => {
    const locked = await execute<{ queue: string }>({ text: lockQueues, params: asked });
    const names = textArray(locked.map(({ queue }) => queue));
    const rooms = await execute<Room>({ text: roomOf, params: [tenant, names] });
    tellThrottled(claimer, rooms);
    const open = textArray(rooms.filter(({ room }) => room > 0).map(({ queue }) => queue));
    const [text, last] = typeof which === "number" ? [oldest[width], which] : [byId[width], uuidArray(which)];
    const params = [lease_token, claimer.worker_id, claimer.lease_seconds, tenant, open, last];
    return execute<L>({ text, params });
  });
  return leases.map((row) => Object.assign(row, { tenant, lease_token, worker_id: claimer.worker_id, limited: true }));
}

type Room = { queue: string; room: number; retry_in_ms: number | null };

function tellThrottled({ tenant, throttled }: Claimer, rooms: readonly Room[]): void {
  for (const { queue, room, retry_in_ms } of rooms)
    if (room === 0 && retry_in_ms !== null) throttled?.({ tenant, queue }, Math.max(0, retry_in_ms));
}

const servedAndLimited = `
  FROM queues WHERE tenant = $1 AND queue = ANY($2::text[]) AND paused_at IS NULL AND ${isLimited}`;
const limitedQueues = `SELECT queue ${servedAndLimited}`;
const lockQueues = `SELECT queue ${servedAndLimited} AND ${unsynced} AND ${notHeldIdle} ORDER BY queue FOR UPDATE`;
const roomOf = `SELECT queue, ${roomIn("queues")} FROM queues WHERE tenant = $1 AND queue = ANY($2::text[])`;

/**
 * $1 token, $2 worker, $3 lease seconds, $4 tenant, $5 queues with room. `candidates` are (id, queue, group_key, place);
 * of each queue the first ones go, as many as there is room for, and of each group as many as its rate allows.
 */
const claiming = (candidates: string, bound = "") => ({
  lease: withWidth(candidates, bound, "lease"),
  whole: withWidth(candidates, bound, "whole"),
});

const withWidth = (candidates: string, bound: string, width: Width) => `
  WITH open AS MATERIALIZED (
    SELECT *, ${roomIn("queues")} FROM queues WHERE tenant = $4 AND queue = ANY($5::text[])
  ), candidates AS MATERIALIZED (${candidates}), in_group AS (
    SELECT candidates.*, room, group_key IS NULL OR group_rate_limit IS NULL OR (
      row_number() OVER (PARTITION BY candidates.queue, group_key ORDER BY place) <= group_rate_limit - (
        SELECT coalesce(sum(count), 0) FROM queue_starts
        WHERE ${startsWithin("open", "= candidates.group_key", "group_rate_period_seconds")})) AS may_start
    FROM candidates JOIN open ON open.queue = candidates.queue
  ), chosen AS MATERIALIZED (
    SELECT id FROM (
      SELECT id, room, place, row_number() OVER (PARTITION BY queue ORDER BY place) AS number FROM in_group WHERE may_start) AS numbered
    WHERE number <= room ${bound}
  ), ${takeLeases("id = ANY(ARRAY(SELECT id FROM chosen))", width)}, ${noteStarts}
  SELECT * FROM leased`;

const byId = claiming(`
    SELECT jobs.id, jobs.queue, jobs.group_key, wanted.place
    FROM unnest($6::uuid[]) WITH ORDINALITY AS wanted(id, place) JOIN jobs ON jobs.id = wanted.id
    WHERE jobs.tenant = $4 AND jobs.queue = ANY($5::text[]) AND jobs.status = 'queued'`);

// Jobs whose groups have used up their rate must not be all that is looked at. So many of each queue are candidates, as
// a queue without room must not crowd out the others; the caller has room for so many of all.
const oldest = claiming(
  `
    SELECT ready.id, ready.queue, ready.group_key, row_number() OVER (ORDER BY priority DESC, ready_at, id) AS place
    FROM open AS served, LATERAL (
      SELECT front.* FROM (
        SELECT id, jobs.queue, group_key, priority, ready_at FROM jobs
        WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL
        ORDER BY priority DESC, ready_at, id LIMIT ${passed_over_max}) AS front
      WHERE ${groupMayStart("served", "front")}
      ORDER BY priority DESC, ready_at, id LIMIT $6::int) AS ready`,
  "ORDER BY place LIMIT $6::int",
);
