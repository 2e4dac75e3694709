import { isUnavailable } from "../database/errors.ts";
import { onBehalfOf } from "../database/pool/on-behalf-of.ts";
import type { Deps, QueueRef } from "../deps.ts";
import type { Signal } from "../signal/signal.ts";
import { refillQueue, type Reach } from "./refill.ts";
import { createStock, type Stock } from "./stock.ts";
import { places_max, type Behind } from "./within-rates.ts";

export type Refiller = {
  /** A job of a queue with limits has finished. */
  freed(queue: QueueRef): void;
  /** There will be room again in `delay_ms`. */
  freeIn(queue: QueueRef, delay_ms: number): void;
  stop(): void;
};

const wait_ms_max = 60_000;
/** Between two looks at thousands of jobs of a queue. */
const rest_ms = 500;

/**
 * Keeps queues with limits moving in the process that finishes their jobs: at once, and when a rate has room again.
 * What it misses the sweep does, a second later.
 *
 * A queue is refilled once at a time, however many of its jobs end meanwhile. Where the first jobs have no start left it
 * looks further: twice a second, as a rate may have starts again with each sweep, which then never finds them used up; and for
 * one queue of a tenant at a time. What such a look finds beyond the room there is goes in the `stock`, for the ends of jobs
 * until the next look.
 *
 * @example
 * const refiller = createRefiller(deps);
 * refiller.freed({ tenant: "default", queue: "mail" });
 */
export function createRefiller(deps: Deps & { signal: Signal }, stock: Stock = createStock()): Refiller {
  const timers = new Map<string, { timer: NodeJS.Timeout; at: number }>();
  const under_way = new Map<string, { again: boolean }>();
  const further = createFurtherLooks((queue, behind) => refill(queue, { behind }));
  let stopped = false;

  const refill = async (queue: QueueRef, reach: Reach): Promise<void> => {
    try {
      // A tenant may have thousands of limited queues with room at once.
      const own = { ...deps, database: onBehalfOf(deps.database, { tenant: queue.tenant }) };
      const { retry_in_ms, more } = await refillQueue(own, queue, reach, stock);
      if (retry_in_ms !== null) freeIn(queue, retry_in_ms);
      if (more && !stopped) further.wanted(queue);
    } catch (error) {
      // The sweep offers the queue's jobs too; nothing may be thrown from a timer.
      const during = "offering jobs of a limited queue";
      if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during, error: String(error) });
      else deps.observe({ event: "refill_failed", queue: queue.queue, error: String(error) });
    }
  };

  const refillOnce = async (name: string, queue: QueueRef): Promise<void> => {
    timers.delete(name);
    const other = under_way.get(name);
    if (other) return void (other.again = true);
    const own = { again: false };
    under_way.set(name, own);
    await refill(queue, "near");
    under_way.delete(name);
    if (own.again) freeIn(queue, 1);
  };

  const freeIn = (queue: QueueRef, delay_ms: number): void => {
    if (stopped) return;
    const name = nameOf(queue);
    const wait_ms = Math.min(Math.max(1, Math.ceil(delay_ms)), wait_ms_max);
    const at = performance.now() + wait_ms;
    const known = timers.get(name);
    if (known && known.at <= at) return;
    clearTimeout(known?.timer);
    timers.set(name, { timer: setTimeout(() => void refillOnce(name, queue), wait_ms), at });
  };

  return {
    freed: (queue) => freeIn(queue, 1),
    freeIn,
    stop() {
      stopped = true;
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
      further.stop();
      stock.stop();
    },
  };
}

/** Looks for queues whose first jobs have no start left: each rests between two, and those of a tenant come one after another. */
function createFurtherLooks(look: (queue: QueueRef, behind: Behind) => Promise<void>) {
  const behind: Behind = new Map();
  const ended_at = new Map<string, number>();
  /** By the queue: waiting for its time, or in its tenant's line. */
  const asked = new Map<string, NodeJS.Timeout>();
  const lines = new Map<string, Promise<void>>();
  let stopped = false;

  const lookAfter = async (before: Promise<void> | undefined, name: string, queue: QueueRef): Promise<void> => {
    await before;
    asked.delete(name);
    if (stopped) return;
    // Asked for while the one before it was under way.
    if (restOf(name) > 0) return wanted(queue);
    await look(queue, behind);
    if (ended_at.size >= places_max) ended_at.clear();
    ended_at.set(name, performance.now());
  };
  const getInLine = async (name: string, queue: QueueRef): Promise<void> => {
    const own = lookAfter(lines.get(queue.tenant), name, queue);
    lines.set(queue.tenant, own);
    await own;
    if (lines.get(queue.tenant) === own) lines.delete(queue.tenant);
  };
  const restOf = (name: string): number => (ended_at.get(name) ?? -rest_ms) + rest_ms - performance.now();
  const wanted = (queue: QueueRef): void => {
    const name = nameOf(queue);
    if (asked.has(name)) return;
    const begin = () => void getInLine(name, queue);
    asked.set(name, setTimeout(begin, Math.max(0, Math.ceil(restOf(name)))));
  };

  return {
    wanted,
    stop(): void {
      stopped = true;
      for (const timer of asked.values()) clearTimeout(timer);
    },
  };
}

const nameOf = ({ tenant, queue }: QueueRef): string => `${tenant} ${queue}`;
