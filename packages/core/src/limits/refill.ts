import type { Deps, QueueRef } from "../deps.ts";
import { notSignalled } from "./not-signalled.ts";
import { queueRoom } from "./room.ts";
import type { Stock } from "./stock.ts";
import { near_jobs_max, readyBehind, readyInFront, readyNear, type Behind } from "./within-rates.ts";
import { announce, hint } from "../signal/announce.ts";
import type { ReadyJob, Signal } from "../signal/signal.ts";

/** Signalled at once; those that start make room for the next. */
const signals_max = near_jobs_max;

/**
 * How far to look for jobs whose groups have a start left, when the first ones have none: not at all, in all of the front,
 * or with `behind` also behind it.
 */
export type Reach = "near" | "front" | { behind: Behind };

/** `retry_in_ms`: when there will be more room, if the rate is used up. `more`: a longer reach may find others. */
export type Refilled = { retry_in_ms: number | null; more: boolean };

/**
 * Signal as many of a queue's next jobs as its limits have room for: what was dropped for lack of room is offered
 * again. A near refill offers what is in the `stock` too, and further ones put in there what they find.
 *
 * @example
 * const { retry_in_ms } = await refillQueue(deps, { tenant: "default", queue: "mail" }, "near");
 */
export async function refillQueue(
  deps: Deps & { signal: Signal },
  queue: QueueRef,
  reach: Reach,
  stock?: Stock,
): Promise<Refilled> {
  const found = await queueRoom(deps, queue);
  if (!found) return { retry_in_ms: null, more: false };
  if (found.room === 0) return { retry_in_ms: found.retry_in_ms, more: false };
  const wanted = Math.min(found.room, signals_max);
  let more = false;
  await hint(deps.observe, "refill", async () => {
    const stocked = reach === "near" ? stock?.of(queue) : [];
    const near = await readyNear(deps, { ...queue, by_group: found.by_group }, wanted, stocked);
    more = near.more && reach === "near";
    const further = near.more && reach !== "near";
    const jobs = further ? await readyFurther(deps, queue, reach, wanted, stock) : near.jobs;
    await offer(deps, queue, jobs, { all: !near.more && jobs.length < wanted });
  });
  return { retry_in_ms: null, more };
}

/** Up to `wanted` jobs of the front, or of it and behind it. For a stock it looks for as many as are ever signalled at once. */
async function readyFurther(
  deps: Deps,
  queue: QueueRef,
  reach: Exclude<Reach, "near">,
  wanted: number,
  stock: Stock | undefined,
): Promise<ReadyJob[]> {
  const jobs_max = stock ? signals_max : wanted;
  const front = await readyInFront(deps, queue, jobs_max);
  const left = jobs_max - front.length;
  const room = Math.max(0, wanted - front.length);
  const of = { tenant: queue.tenant, queues: [queue.queue] };
  const others = reach !== "front" && left > 0 ? await readyBehind(deps, of, left, reach.behind, room) : [];
  stock?.add(
    queue,
    [...front, ...others].map(({ id }) => id),
  );
  return [...front.slice(0, wanted), ...others.slice(0, room)];
}

/**
 * Signals those that are not yet. A list that was full takes new ones again when `all` that wait are in it, as they would
 * overtake the others.
 */
async function offer(
  deps: Deps & { signal: Signal },
  queue: QueueRef,
  jobs: readonly ReadyJob[],
  { all }: { all: boolean },
): Promise<void> {
  const { signal } = deps;
  const lists = await signal.look(queue);
  // As they did before, until whoever ended it died.
  if (lists.in_turns) await signal.setTurns(queue, false);
  await announce(deps, lists.in_turns ? jobs : await notSignalled(deps, queue, jobs, lists), "front");
  if (lists.overflowed && all && lists.length <= jobs.length) await signal.endOverflow(queue);
}
