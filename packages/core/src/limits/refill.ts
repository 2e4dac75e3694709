import type { Deps, QueueRef } from "../deps.ts";
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
    const { front, others } =
      near.more && reach !== "near"
        ? await readyFurther(deps, queue, reach, wanted, stock)
        : { front: near.jobs, others: near.kept };
    await announce(deps, await missingOf(deps.signal, queue, front, others), "front");
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
): Promise<{ front: ReadyJob[]; others: ReadyJob[] }> {
  const jobs_max = stock ? signals_max : wanted;
  const front = await readyInFront(deps, queue, jobs_max);
  const left = jobs_max - front.length;
  const room = Math.max(0, wanted - front.length);
  const of = { tenant: queue.tenant, queues: [queue.queue] };
  const others = reach !== "front" && left > 0 ? await readyBehind(deps, of, left, reach.behind, room) : [];
  stock?.put(
    queue,
    [...front, ...others].map(({ id }) => id),
  );
  return { front: front.slice(0, wanted), others: others.slice(0, room) };
}

/**
 * Those not signalled already, or the list would grow by all of them with each sweep while no worker takes any. It is
 * in order, so when it is long enough its next id shows what is missing. The `others` come from behind all these: they are
 * signalled unless it is long enough for them too, as another process, or a later look, has others. Prioritised ones are kept
 * once each.
 */
async function missingOf(
  signal: Signal,
  queue: QueueRef,
  jobs: readonly ReadyJob[],
  others: readonly ReadyJob[],
): Promise<ReadyJob[]> {
  const { length, next, in_turns } = await signal.look(queue);
  // As they did before, until whoever ended it died.
  if (in_turns) await signal.setTurns(queue, false);
  if (in_turns) return [...jobs, ...others];
  const place = length < jobs.length ? -1 : jobs.findIndex(({ id }) => id === next);
  const missing = jobs.filter(({ priority }, at) => place === -1 || at < place || priority !== 0);
  const room = length < jobs.length + others.length;
  return [...missing, ...others.filter(({ priority }) => room || priority !== 0)];
}
