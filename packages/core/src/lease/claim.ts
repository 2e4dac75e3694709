import { composed } from "../database/composed.ts";
import { isLocked } from "../database/errors.ts";
import { hidden, isUuid, textArray, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { hasMark } from "../limits/room.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { claimOldest } from "./claim/oldest.ts";
import { addTo, claimIds } from "./claim/statement.ts";
import type { Claimer, Lease, LeasedJob } from "./lease.ts";
import { ofTypes, typesIn, wholeJob } from "./take-leases.ts";

/**
 * queued → running, for ids handed out by the signal. One statement by primary key; ids that are junk, taken, finished
 * or from a queue not served are left out of the answer. Leases are in the order of the ids. Where another transaction has locked one, the oldest jobs that
 * are free go in their place. An id of a queue with limits or turns stands for all its jobs: those that come first
 * in it go, as many as there is room for, and are last in the answer.
 *
 * @example
 * const leases = await claim(deps, ["0192…"], { tenant: "default", queues: ["default"], worker_id, lease_seconds: 30 });
 */
export async function claim(deps: Deps, ids: readonly string[], claimer: Claimer): Promise<Lease[]> {
  const wanted = [...new Set(ids.filter(isUuid).map((id) => id.toLowerCase()))];
  if (wanted.length === 0) return [];
  const leases = await claimById(deps, claimer, wanted);
  const left = await lookAtLeft(deps, claimer, wanted, leases);
  const queues = [...new Set(left.flatMap(({ queue, is_marked }) => (is_marked ? [queue] : [])))];
  if (queues.length > 0)
    await addTo(deps, claimer, leases, () => {
      const room = wanted.length - leases.length + (claimer.more_room?.() ?? 0);
      return claimOldest(deps, { ...claimer, queues }, room);
    });
  const others = left.filter(({ is_other }) => is_other);
  if (others.length > 0) claimer.put_back?.(others);
  const missed = ids.length - leases.length - others.length;
  if (missed > 0) deps.observe({ event: "lease_not_acquired", count: missed, worker_id: claimer.worker_id });
  return inOrder(leases, wanted);
}

/**
 * queued → running, without a signal: the first jobs of each queue, the highest priority first. It reads the index of ready
 * jobs, so it is for times when Redis is away. Concurrent claims skip each other's rows.
 */
export async function claimReady(deps: Deps, jobs_max: number, claimer: Claimer): Promise<Lease[]> {
  const leases = await claimOldest(deps, claimer, Math.min(jobs_max, claimer.size?.jobs_max() ?? Infinity));
  return leases.sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1));
}

/** `claim`, or `claimReady` when given a number, returning the whole jobs from the same statement. */
export async function claimJobs(deps: Deps, which: readonly string[] | number, claimer: Claimer): Promise<LeasedJob[]> {
  const whole = { ...claimer, whole: true };
  const leases = await (typeof which === "number" ? claimReady(deps, which, whole) : claim(deps, which, whole));
  return leases.map(wholeJob);
}

function inOrder(leases: readonly Lease[], ids: readonly string[]): Lease[] {
  const leaseOf = new Map<string, Lease>();
  for (const lease of leases) leaseOf.set(lease.id, lease);
  const ordered: Lease[] = [];
  for (const id of ids) {
    const lease = leaseOf.get(id);
    if (lease) ordered.push(lease);
    leaseOf.delete(id);
  }
  return [...ordered, ...leaseOf.values()];
}

/**
 * All of them. If one stays locked for 200 ms, as many of the oldest jobs go instead, which passes over locked rows: to lock each
 * row first would cost every claim a seventh more. The sweep signals again those of the ids that did not go.
 */
async function claimById(deps: Deps, claimer: Claimer, ids: readonly string[]): Promise<Lease[]> {
  try {
    return await claimIds(deps, claimer, ids);
  } catch (error) {
    if (!isLocked(error)) throw error;
    return claimOldest(deps, claimer, ids.length);
  }
}

/** `is_marked`: it is in a queue with limits or turns that the claimer serves. `is_other`: it waits for a worker of its type. */
type Left = ReadyJob & { is_marked: boolean; is_other: boolean };

/** Those of the ids that were not leased. If they cannot be looked up, the sweep signals them. */
async function lookAtLeft(
  deps: Deps,
  { tenant, queues, types }: Claimer,
  ids: readonly string[],
  leases: readonly Lease[],
): Promise<readonly Left[]> {
  if (leases.length >= ids.length) return [];
  const taken = new Set(leases.map(({ id }) => id));
  const params = [tenant, uuidArray(ids.filter((id) => !taken.has(id))), textArray(queues), typesIn(types)];
  return executeOn(deps.database)<Left>({ text: look, params }).catch((error: unknown) => {
    if (leases.length === 0) throw error;
    deps.observe({ event: "database_unavailable", during: "claim", error: String(error) });
    return [];
  });
}

// The queue of a job never changes.
const look = composed(
  "lease/left-ids",
  ["tenant", "ids", "queues", "types"],
  `
  SELECT id, tenant, queue, priority, status = 'queued' AND NOT ${ofTypes("$4")} AS is_other, queue = ANY($3::text[]) AND EXISTS (
    SELECT FROM atlasqueue.queues WHERE queues.tenant = $1 AND queues.queue = jobs.queue AND paused_at IS NULL AND ${hasMark}) AS is_marked
  FROM atlasqueue.jobs WHERE id = ANY(${hidden("$2::uuid[]")}) AND tenant = $1
  ORDER BY id`,
);
