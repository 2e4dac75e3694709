import { composed } from "../database/composed.ts";
import { randomUUID } from "node:crypto";
import { outcomeUnknown } from "../database/errors.ts";
import { textArray, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import { inTransaction, notHeldIdle } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { groupMayStart, isLimited, passed_over_max, roomIn, startsWithin } from "../limits/room.ts";
import type { Claimer, Lease } from "./lease.ts";
import { noteStarts } from "../limits/note-starts.ts";
import { claim_bytes_max, payloadBytes } from "./payload-bytes.ts";
import { impatient, passingOverLocked, type Form } from "../database/skip-locked.ts";
import { leaseTerms, takeLeases, type Width } from "./take-leases.ts";

/**
 * queued → running in queues with limits, as far as there is room: for the remaining ids, or for a number of the
 * oldest. Two statements under the lock of the queue's row: the second counts what others committed before this one got
 * the lock, so a limit is never exceeded, however many claim at once. Synced to disk, as a database crash that forgot a
 * start would let another job start beside it. Ids that find no room are dropped; finishing a job of the queue, and the
 * sweep, signal the next ones.
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
  return passingOverLocked((form) => claimUnderLock(deps, claimer, which, width, form));
}

async function claimUnderLock<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  which: readonly string[] | number,
  width: Width,
  form: Form,
): Promise<L[]> {
  const { tenant, worker_id } = claimer;
  const lease_token = randomUUID();
  const work = inTransaction(deps.database, async (execute) => {
    const locked = await execute<{ queue: string }>({
      text: lockQueues[form],
      params: [tenant, textArray(claimer.queues)],
    });
    // Every statement is a round trip that others wait for on the same queue.
    if (locked.length === 0) return [];
    const names = textArray(locked.map(({ queue }) => queue));
    const rooms = await execute<Room>({ text: roomOf, params: [tenant, names] });
    reportThrottled(claimer, rooms);
    const withRoom = rooms.filter(({ room }) => room > 0);
    if (withRoom.length === 0) return [];
    const open = textArray(withRoom.map(({ queue }) => queue));
    const [text, last] = typeof which === "number" ? [oldest[width], which] : [byId[width], uuidArray(which)];
    const params = [lease_token, worker_id, claimer.lease_seconds, tenant, open, last];
    return execute<L>({ text, params });
  });
  const leases = await work.catch((error: unknown) => {
    if (outcomeUnknown(error)) claimer.unanswered?.(lease_token);
    throw error;
  });
  return leases.map((row) => Object.assign(row, { tenant, lease_token, worker_id, limited: true }));
}

type Room = { queue: string; room: number; retry_in_ms: number | null };

function reportThrottled({ tenant, throttled }: Claimer, rooms: readonly Room[]): void {
  for (const { queue, room, retry_in_ms } of rooms)
    if (room === 0 && retry_in_ms !== null) throttled?.({ tenant, queue }, Math.max(0, retry_in_ms));
}

const servedAndLimited = `
  FROM queues WHERE tenant = $1 AND queue = ANY($2::text[]) AND paused_at IS NULL AND ${isLimited}`;
const limitedQueues = composed("lease/limited-queues", ["tenant", "queues"], `SELECT queue ${servedAndLimited}`);
const waitForQueues = `SELECT queue ${servedAndLimited} AND ${notHeldIdle} AND ${impatient} ORDER BY queue FOR UPDATE`;
const lockQueues: Record<Form, string> = {
  quick: composed("lease/lock-queues", ["tenant", "queues"], waitForQueues),
  careful: composed("lease/lock-queues-carefully", ["tenant", "queues"], `${waitForQueues} SKIP LOCKED`),
};
const roomOf = composed(
  "lease/room-of-queues",
  ["tenant", "queues"],
  `SELECT queue, ${roomIn("queues")} FROM queues WHERE tenant = $1 AND queue = ANY($2::text[])`,
);

/**
 * $1 token, $2 worker, $3 lease seconds, $4 tenant, $5 queues with room. `candidates` are (id, queue, group_key, place);
 * from each queue the first go, as many as there is room for, and from each group as many as its rate allows.
 */
const claiming = (name: string, last: "ids" | "jobs_max", candidates: string, bound = "") => {
  const text = (width: Width) =>
    composed(`lease/${name}-${width}`, [...leaseTerms, "queues", last], withWidth(candidates, bound, width));
  return { lease: text("lease"), whole: text("whole") };
};

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
    SELECT id, place FROM (
      SELECT id, room, place, row_number() OVER (PARTITION BY queue ORDER BY place) AS number FROM in_group WHERE may_start) AS numbered
    WHERE number <= room ${bound}
  ), weighed AS MATERIALIZED (
    SELECT id, sum(bytes) OVER (ORDER BY place) - bytes AS before FROM (
      SELECT jobs.id, place, ${payloadBytes} AS bytes FROM chosen JOIN jobs ON jobs.id = chosen.id
      WHERE jobs.status = 'queued' FOR NO KEY UPDATE OF jobs SKIP LOCKED) AS free
  ), ${takeLeases(`id = ANY(ARRAY(SELECT id FROM weighed WHERE before < ${claim_bytes_max}))`, width)}, ${noteStarts}
  SELECT * FROM leased`;

const byId = claiming(
  "claim-limited",
  "ids",
  `
    SELECT jobs.id, jobs.queue, jobs.group_key, wanted.place
    FROM unnest($6::uuid[]) WITH ORDINALITY AS wanted(id, place) JOIN jobs ON jobs.id = wanted.id
    WHERE jobs.tenant = $4 AND jobs.queue = ANY($5::text[]) AND jobs.status = 'queued'`,
);

// We must not look only at jobs whose groups have used up their rate. The candidates are bounded per queue, as a queue
// without room must not crowd out the others, and overall by what the caller has room for.
const oldest = claiming(
  "claim-limited-oldest",
  "jobs_max",
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
