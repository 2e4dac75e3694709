import { composed } from "../../database/composed.ts";
import { hidden, textArray, uuidArray } from "../../database/literals.ts";
import { executeOn } from "../../database/statement.ts";
import { notHeldIdle, sentTogether } from "../../database/transaction.ts";
import type { Deps } from "../../deps.ts";
import { isLimited, roomIn, runningByQueue, type QueueRoom } from "../../limits/room.ts";
import { readyAmong } from "../../queues/ready-queues.ts";
import type { ReadyJob } from "../../signal/signal.ts";
import type { Claimer, Lease } from "../lease.ts";
import { impatient, passingOverLocked, type Form } from "../../database/skip-locked.ts";
import { byId, note, noted, oldest } from "./limited-choice.ts";
import type { WithHolder } from "./locks-met.ts";
import { underToken } from "./under-token.ts";
import type { Width } from "../take-leases.ts";

/**
 * queued → running in queues with limits, as far as there is room: for the remaining ids, or for a number of the
 * oldest. The lock of the queue's row is a statement of its own: those after it count what others committed before this
 * one got the lock, so a limit is never exceeded, however many claim at once. Of the queues served, only those that the ids
 * are in are locked, or those with a ready job, as all other claims of these wait. Synced to disk, as a database crash that
 * forgot a start would let another job start beside it. Ids that find no room are dropped; finishing a job of the queue,
 * and the sweep, signal the next ones. So a younger job's id may come first: the older ones that the claimer's `fronts`
 * know of go before it, and it is put back. `passed_over` has the queue of each id that had room and whose row another
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

/** A queue to lock, and those of the ids that are its own. */
type Wanted = WithHolder & { ids?: readonly string[] };

async function withReadyJobs(deps: Deps, { tenant, queues }: Claimer): Promise<readonly Wanted[]> {
  const refs = queues.map((queue) => ({ tenant, queue }));
  return (await readyAmong(deps, refs)).filter(({ limited }) => limited);
}

function queuesOf(deps: Deps, { tenant, queues }: Claimer, ids: readonly string[]): Promise<readonly Wanted[]> {
  const params = [tenant, textArray(queues), uuidArray(ids)];
  return executeOn(deps.database)<Wanted>({ text: limitedQueues, params });
}

type Claimed<L> = { leases: L[]; passed_over: readonly string[]; by_group: readonly string[] };

async function claimUnderLock<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  which: readonly string[] | number,
  queues: readonly Wanted[],
  width: Width,
  form: Form,
): Promise<Claimed<L>> {
  const { tenant, worker_id, lease_seconds } = claimer;
  const older = typeof which === "number" ? new Map<string, readonly string[]>() : olderThan(claimer, queues);
  const [text, ...last] =
    typeof which === "number"
      ? [oldest[width], which]
      : [byId[width], uuidArray(which), uuidArray([...older.values()].flat())];
  // A round trip between them would be one that everyone else waits for on the same queue.
  return underToken(claimer, async (lease_token) => {
    const names = textArray(queues.map(({ queue }) => queue));
    const holders = textArray(queues.map(({ holder }) => holder));
    const unwaited = form === "careful" ? queues : (claimer.locks?.stillHeld(tenant, queues) ?? []);
    const [, rooms, leases, busy = []] = await sentTogether(deps.database, [
      { text: lockQueues, params: [tenant, names, textArray(unwaited.map(({ queue }) => queue))] },
      { text: roomOfLocked, params: [tenant] },
      { text, params: [lease_token, worker_id, lease_seconds, tenant, ...last] },
      ...(unwaited.length > 0 && typeof which !== "number"
        ? [{ text: ofBusyQueues, params: [tenant, names, holders, uuidArray(which)] }]
        : []),
    ]);
    claimer.locks?.noteHeld(tenant, queues, rooms as Room[]);
    reportThrottled(claimer, rooms as Room[]);
    const claimed = claimedIn(leases as Row<L>[], { tenant, lease_token, worker_id, limited: true });
    const waits = [...(busy as Waits[]), ...claimed.overtaken];
    if (waits.length > 0) claimer.put_back?.(waits.map((job) => ({ ...job, tenant })));
    const leased = claimed.leases.map(({ id }) => id);
    for (const { queue, room } of rooms as Room[]) {
      const tried = room > 0 ? (older.get(queue) ?? []) : [];
      const gone = [...tried.filter((id) => !claimed.wait.has(id)), ...leased];
      const overtook = claimed.overtaken.some((job) => job.queue === queue);
      claimer.fronts?.gone({ tenant, queue }, gone, overtook);
    }
    const by_group = (rooms as Room[]).filter((one) => one.by_group && one.room > 0).map(({ queue }) => queue);
    return { leases: claimed.leases, passed_over: claimed.passed_over, by_group };
  });
}

/** What may go before the ids of each queue, if these can be put back. */
function olderThan({ tenant, fronts, put_back }: Claimer, queues: readonly Wanted[]): Map<string, readonly string[]> {
  if (!fronts || !put_back) return new Map();
  return new Map(queues.map(({ queue, ids = [] }) => [queue, fronts.before({ tenant, queue }, ids)]));
}

type Waits = Omit<ReadyJob, "tenant">;
/** Without a lease there is still one row, of nothing else. */
type Row<L> = L & { passed_over?: string[] | null; overtaken?: Waits[] | null; wait?: string[] | null };

function claimedIn<L extends Lease>(rows: readonly Row<L>[], common: Partial<Lease>) {
  const { passed_over, overtaken, wait } = rows[0] ?? {};
  for (const row of rows) {
    delete row.passed_over;
    delete row.overtaken;
    delete row.wait;
  }
  const leases = rows.filter(({ id }) => id !== null).map((row) => Object.assign(row, common));
  return { leases, passed_over: passed_over ?? [], overtaken: overtaken ?? [], wait: new Set(wait) };
}

type Room = QueueRoom & { queue: string };

function reportThrottled({ tenant, throttled }: Claimer, rooms: readonly Room[]): void {
  for (const { queue, room, retry_in_ms } of rooms)
    if (room === 0 && retry_in_ms !== null) throttled?.({ tenant, queue }, Math.max(0, retry_in_ms));
}

const servedAndLimited = `
  FROM atlasqueue.queues WHERE tenant = $1 AND queue = ANY($2::text[]) AND paused_at IS NULL AND ${isLimited}`;
// The queue of a job never changes.
const limitedQueues = composed(
  "lease/limited-queues",
  ["tenant", "queues", "ids"],
  `
  WITH given AS MATERIALIZED (
    SELECT queue, json_agg(id) AS ids FROM atlasqueue.jobs
    WHERE id = ANY(${hidden("$3::uuid[]")}) AND tenant = $1 AND status = 'queued' GROUP BY queue
  ), limited AS (SELECT queue, xmax::text AS holder ${servedAndLimited} AND queue = ANY(ARRAY(SELECT queue FROM given)))
  SELECT * FROM limited JOIN given USING (queue)`,
);

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
  FROM unnest($4::uuid[]) WITH ORDINALITY AS given(id, place) JOIN atlasqueue.jobs ON jobs.id = given.id
  JOIN unnest($2::text[], $3::text[]) AS wanted(queue, holder) ON wanted.queue = jobs.queue
  JOIN atlasqueue.queues ON queues.tenant = $1 AND queues.queue = wanted.queue AND queues.xmax::text <> wanted.holder
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
    SELECT queue, ${roomIn("queues", "coalesce(known.running, 0)")} FROM atlasqueue.queues LEFT JOIN known USING (queue)
    WHERE tenant = $1 AND queue = ANY(ARRAY(SELECT queue FROM locked))
  )
  SELECT *, (SELECT ${note("room", "json_object_agg(queue, room)")} FROM rooms WHERE room > 0) AS noted FROM rooms`,
);
