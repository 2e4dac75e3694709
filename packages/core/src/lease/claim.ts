import { isLocked } from "../database/errors.ts";
import { isUuid } from "../database/literals.ts";
import { claimLimited } from "./claim/limited.ts";
import { addTo, claimWith } from "./claim/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { readyAmong } from "../queues/ready-queues.ts";
import { wholeJob } from "./take-leases.ts";
import { findLeased, type Leased } from "./find-leased.ts";
import type { Claimer, Lease, LeasedJob } from "./lease.ts";

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
  const taken = new Set(leases.map(({ id }) => id));
  const untaken = wanted.filter((id) => !taken.has(id));
  const left = await findLeft(deps, claimer.tenant, untaken, leases.length > 0);
  const ofMarked = left.filter(({ limited, queue }) => limited && claimer.queues.includes(queue));
  if (ofMarked.length > 0)
    await addTo(deps, claimer, leases, () => {
      const room = untaken.length + (claimer.more_room?.() ?? 0);
      return claimLimited(deps, claimer, [...new Set(ofMarked.map(({ queue }) => queue))], room);
    });
  const { types } = claimer;
  const others = types ? left.filter(({ is_queued, type }) => is_queued && !types.includes(type)) : [];
  if (others.length > 0) claimer.put_back?.(others);
  const missed = ids.length - leases.length - others.length;
  if (missed > 0) deps.observe({ event: "lease_not_acquired", count: missed, worker_id: claimer.worker_id });
  return inOrder(leases, wanted);
}

/**
 * queued → running, without a signal: the oldest of the highest priority. Scans the index of ready jobs, so it is for
 * times when Redis is away. Queues with limits or turns are claimed in another way, and each kind has its part of the room. Concurrent claims skip
 * each other's rows.
 */
export async function claimReady(deps: Deps, jobs_max: number, claimer: Claimer): Promise<Lease[]> {
  const { random = Math.random, size } = claimer;
  const room_max = Math.min(jobs_max, size?.jobs_max() ?? Infinity);
  const queues = claimer.queues.map((queue) => ({ tenant: claimer.tenant, queue }));
  const { marked = [], plain = [] } = Object.groupBy(await readyAmong(deps, queues), (one) =>
    one.marked ? "marked" : "plain",
  );
  const names = (of: readonly QueueRef[]) => of.map(({ queue }) => queue);
  type Claiming = (jobs_max: number) => Promise<Lease[]>;
  const ways: Claiming[] = [];
  if (plain.length > 0) ways.push((room) => claimWith(deps, { ...claimer, queues: names(plain) }, room));
  if (marked.length > 0) ways.push((room) => claimLimited(deps, claimer, names(marked), room));
  // So that no kind is always the first.
  const first = Math.floor(random() * ways.length);
  let left = [...ways.slice(first), ...ways.slice(0, first)];
  const leases: Lease[] = [];
  // Parts first, and what is not used of them afterwards: queues of one kind that never run empty would otherwise keep
  // those of another waiting. Rounded at random, as there may be room for fewer jobs than there are kinds.
  for (const part of [Math.floor(room_max / left.length + random()), room_max]) {
    const open: Claiming[] = [];
    for (const claiming of left) {
      const room = Math.min(part, room_max - leases.length);
      const before = leases.length;
      if (room > 0) await addTo(deps, claimer, leases, () => claiming(room));
      // Fewer than there was room for are all there are.
      if (leases.length - before === room) open.push(claiming);
    }
    left = open;
  }
  return leases.sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1));
}

/** `claim`, or `claimReady` when given a number, returning the whole jobs from the same statement. */
export async function claimJobs(deps: Deps, which: readonly string[] | number, claimer: Claimer): Promise<LeasedJob[]> {
  const whole = { ...claimer, whole: true };
  const leases = await (typeof which === "number" ? claimReady(deps, which, whole) : claim(deps, which, whole));
  return leases.map(wholeJob);
}

/** Those that were not asked for are last. */
function inOrder(leases: readonly Lease[], ids: readonly string[]): Lease[] {
  const places = new Map(ids.map((id, at) => [id, at]));
  const placeOf = ({ id }: Lease) => places.get(id) ?? ids.length;
  return leases.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/**
 * All of them. If one stays locked for 200 ms, as many of the oldest jobs go instead, which passes over locked rows: to lock each
 * row first would cost every claim a seventh more. The sweep signals again those of the ids that did not go.
 */
async function claimById(deps: Deps, claimer: Claimer, ids: readonly string[]): Promise<Lease[]> {
  try {
    return await claimWith(deps, claimer, ids);
  } catch (error) {
    if (!isLocked(error)) throw error;
    return claimWith(deps, claimer, ids.length);
  }
}

/** The jobs that were not taken. If they cannot be looked up beside what was, the sweep signals them. */
async function findLeft(deps: Deps, tenant: string, left: readonly string[], any_taken: boolean): Promise<Leased[]> {
  if (left.length === 0) return [];
  try {
    return [...(await findLeased(deps, tenant, left)).values()];
  } catch (error) {
    if (!any_taken) throw error;
    deps.observe({ event: "database_unavailable", during: "claim", error: String(error) });
    return [];
  }
}
