import { isUnavailable } from "../database/errors.ts";
import { onBehalfOf } from "../database/pool/on-behalf-of.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { queueRoom } from "./room.ts";
import { places_max, readyBehind, readyWithinRates, type Behind } from "./within-rates.ts";
import { announce, hint } from "../signal/announce.ts";
import type { ReadyJob, Signal } from "../signal/signal.ts";

/** Between two looks behind the front of a queue, of thousands of jobs each. */
const rest_ms = 500;
/** Signalled at once; those that start make room for the next. */
const signals_max = 500;
const wait_ms_max = 60_000;

/**
 * Signal as many of a queue's next jobs as its limits have room for: what was dropped for lack of room is offered
 * again. With what `behindFront` returns, which is asked when it is needed, also jobs behind thousands whose groups have no start left.
 * Returns when there will be more room, if the rate is used up.
 */
export async function refillQueue(
  deps: Deps & { signal: Signal },
  queue: QueueRef,
  behindFront: () => Behind | undefined = () => undefined,
): Promise<number | null> {
  const found = await queueRoom(deps, queue);
  if (!found) return null;
  if (found.room === 0) return found.retry_in_ms;
  const wanted = Math.min(found.room, signals_max);
  await hint(deps.observe, "refill", async () => {
    const front = await readyWithinRates(deps, queue, wanted);
    const { tenant, queue: name } = queue;
    const behind = found.by_group && front.length < wanted ? behindFront() : undefined;
    const others = behind ? await readyBehind(deps, { tenant, queues: [name] }, wanted - front.length, behind) : [];
    await announce(deps, await missingOf(deps.signal, queue, front, others), "front");
  });
  return null;
}

/**
 * Those not signalled already, or the list would grow by all of them with each sweep while no worker takes any. It is
 * in order, so when it is long enough its next id shows what is missing. The `others` come from behind all these: they are
 * signalled unless it is long enough for them too. Prioritised ones are kept once each.
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

export type Refiller = {
  /** A job of a queue with limits has finished. */
  freed(queue: QueueRef): void;
  /** There will be room again in `delay_ms`. */
  freeIn(queue: QueueRef, delay_ms: number): void;
  stop(): void;
};

/**
 * Keeps queues with limits moving in the process that finishes their jobs: at once, and when a rate has room again.
 * What it misses the sweep does, a second later.
 *
 * @example
 * const refiller = createRefiller(deps);
 * refiller.freed({ tenant: "default", queue: "mail" });
 */
export function createRefiller(deps: Deps & { signal: Signal }): Refiller {
  const timers = new Map<string, { timer: NodeJS.Timeout; at: number }>();
  const behind: Behind = new Map();
  const looked_at = new Map<string, number>();

  /** A rate may have starts again with each sweep, and the sweep then never find the front used up. */
  const behindFront = (name: string, queue: QueueRef): Behind | undefined => {
    const now = performance.now();
    const left_ms = (looked_at.get(name) ?? -rest_ms) + rest_ms - now;
    if (left_ms > 0) return void freeIn(queue, left_ms);
    if (looked_at.size >= places_max) looked_at.clear();
    looked_at.set(name, now);
    return behind;
  };

  const refill = async (name: string, queue: QueueRef): Promise<void> => {
    timers.delete(name);
    try {
      // A tenant may have thousands of limited queues with room at once.
      const own = { ...deps, database: onBehalfOf(deps.database, { tenant: queue.tenant }) };
      const retry_in_ms = await refillQueue(own, queue, () => behindFront(name, queue));
      if (retry_in_ms !== null) freeIn(queue, retry_in_ms);
    } catch (error) {
      // The sweep offers the queue's jobs too; nothing may be thrown from a timer.
      const during = "offering jobs of a limited queue";
      if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during, error: String(error) });
      else deps.observe({ event: "refill_failed", queue: queue.queue, error: String(error) });
    }
  };

  const freeIn = (queue: QueueRef, delay_ms: number): void => {
    const name = `${queue.tenant} ${queue.queue}`;
    const wait_ms = Math.min(Math.max(1, Math.ceil(delay_ms)), wait_ms_max);
    const at = performance.now() + wait_ms;
    const known = timers.get(name);
    if (known && known.at <= at) return;
    clearTimeout(known?.timer);
    timers.set(name, { timer: setTimeout(() => void refill(name, queue), wait_ms), at });
  };

  return {
    freed: (queue) => freeIn(queue, 1),
    freeIn,
    stop() {
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
