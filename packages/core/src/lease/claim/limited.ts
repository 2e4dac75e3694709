import { composed } from "../../database/composed.ts";
import { isLocked } from "../../database/errors.ts";
import { textArray } from "../../database/literals.ts";
import { idleTxTimeout, sentTogether } from "../../database/transaction.ts";
import type { Deps } from "../../deps.ts";
import { hasMark, roomIn, runningByQueue, type QueueRoom } from "../../limits/capacity.ts";
import type { Claimer, Lease } from "../lease.ts";
import { lockTimeout } from "../../database/clauses.ts";
import { claimLimitedText, note, noted } from "./limited-choice.ts";
import { addTo, reportTaken, underToken } from "./statement.ts";
import { readTrace, typesIn, type LeaseRow } from "../take-leases.ts";

/**
 * queued → running in queues with limits or turns, as far as there is room: the oldest, or those of the groups that started
 * least recently. The lock of the queue's row is a statement of its own: those after it count what others committed before
 * this one got the lock, so a limit is never exceeded, however many claim at once. If a queue's row stays locked for 200 ms,
 * each queue is claimed alone, and the locked one waits for the sweep. Synced to disk, as a database crash that forgot a start would let another job start
 * beside it. Where it got all that it asked for, or takes only some
 * types, the queues' marks go back, for others who have room.
 *
 * @example
 * const leases = await claimLimited(deps, claimer, ["mail"], 10);
 */
export async function claimLimited(
  deps: Deps,
  claimer: Claimer,
  queues: readonly string[],
  jobs_max: number,
): Promise<Lease[]> {
  if (queues.length === 0 || jobs_max <= 0) return [];
  try {
    const leases = await claimUnderLock(deps, claimer, queues, jobs_max);
    reportTaken(deps, claimer, leases);
    if (leases.length === jobs_max || claimer.types) claimer.put_back?.(marksOf(leases));
    return leases;
  } catch (error) {
    if (!isLocked(error)) throw error;
  }
  if (queues.length === 1) return [];
  const leases: Lease[] = [];
  for (const queue of queues)
    await addTo(deps, claimer, leases, () => claimLimited(deps, claimer, [queue], jobs_max - leases.length));
  return leases;
}

/** A job of each queue, to stand for the others. */
function marksOf(leases: readonly Lease[]): Lease[] {
  return [...new Map(leases.map((lease) => [lease.queue, lease])).values()];
}

async function claimUnderLock(
  deps: Deps,
  claimer: Claimer,
  queues: readonly string[],
  jobs_max: number,
): Promise<Lease[]> {
  const { tenant, worker_id, lease_seconds, whole = false, types } = claimer;
  // A round trip between them would be one that everyone else waits for on the same queue.
  return underToken(claimer, async (lease_token) => {
    const [, rooms, leases] = await sentTogether(deps.database, [
      { text: lockQueues, params: [tenant, textArray(queues)] },
      { text: roomOfLocked, params: [tenant] },
      {
        text: claimLimitedText,
        params: [lease_token, worker_id, lease_seconds, tenant, String(whole), typesIn(types), jobs_max],
      },
    ]);
    for (const { queue, room, retry_in_ms } of rooms as (QueueRoom & { queue: string })[])
      if (room === 0 && retry_in_ms !== null) claimer.throttled?.({ tenant, queue }, Math.max(0, retry_in_ms));
    return (leases as LeaseRow[]).map((lease) => {
      readTrace(lease);
      return Object.assign(lease, { tenant, lease_token, worker_id, limited: true });
    });
  });
}

const lockQueues = composed(
  "lease/lock-queues",
  ["tenant", "queues"],
  `
  SELECT ${note("locked", "json_agg(queue)")} FROM (
    SELECT queue FROM atlasqueue.queues
    WHERE tenant = $1 AND queue = ANY($2::text[]) AND paused_at IS NULL AND ${hasMark} AND ${idleTxTimeout} AND ${lockTimeout}
    ORDER BY queue FOR UPDATE) AS locked`,
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
