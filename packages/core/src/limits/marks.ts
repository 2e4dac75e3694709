import { forTenant } from "../database/pool/fair-share.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { readyJobs } from "../queues/ready.ts";
import type { Signal } from "../signal/signal.ts";

// A queue with limits or turns has one wake-up mark in Redis: an id in a list of at most one. A worker woken by it claims what
// comes first in the queue.

type SignalDeps = Deps & { signal: Signal };

/** Push the mark of a queue that has a ready job, where Redis has none. Rejects with `SignalUnavailableError`. */
export async function pushMark(deps: SignalDeps, queue: QueueRef): Promise<number> {
  const own = { database: forTenant(deps.database, { tenant: queue.tenant }) };
  return deps.signal.pushFront(await readyJobs(own, queue, { jobs_max: 1 }));
}

/** Give a queue a mark instead of ids: what was in its lists is dropped. Resolves with 1 if it has a ready job. */
export async function markAnew(deps: SignalDeps, queue: QueueRef): Promise<number> {
  await deps.signal.setMarked(queue, true);
  return pushMark(deps, queue);
}

/**
 * Wake a worker for a queue with limits or turns, also where Redis has forgotten that the queue is marked. Rejects with
 * `SignalUnavailableError`.
 *
 * @example
 * await offerMark(deps, { tenant: "default", queue: "mail" });
 */
export async function offerMark(deps: SignalDeps, queue: QueueRef): Promise<void> {
  const { marked, length } = await deps.signal.look(queue);
  if (!marked) await markAnew(deps, queue);
  else if (length === 0) await pushMark(deps, queue);
}

/** The same, for queues that may be ordinary ones: these are left alone. */
export async function offerIfMarked(deps: SignalDeps, queue: QueueRef): Promise<void> {
  const { marked, length } = await deps.signal.look(queue);
  if (marked && length === 0) await pushMark(deps, queue);
}

/** A timer for later starts over: the sweep wakes the queue meanwhile. */
const wait_ms_max = 60_000;
/** Queues with a timer. Beyond it they are left to the sweep. */
const timers_max = 10_000;

export type Waker = {
  /** There is room again in `delay_ms`. */
  wakeIn(queue: QueueRef, delay_ms: number): void;
  stop(): void;
};

/**
 * Wakes queues when the window of their rate ends. The sweep does what it misses, a second later. `wake` must not reject.
 *
 * @example
 * const waker = createWaker((queue) => track(pushMark(deps, queue)));
 * waker.wakeIn({ tenant: "default", queue: "mail" }, 400);
 */
export function createWaker(wake: (queue: QueueRef) => Promise<void>): Waker {
  const timers = new Map<string, { timer: NodeJS.Timeout; at: number }>();
  let stopped = false;

  return {
    wakeIn(queue, delay_ms) {
      const name = JSON.stringify([queue.tenant, queue.queue]);
      const wait_ms = Math.min(Math.max(1, Math.ceil(delay_ms)), wait_ms_max);
      const at = performance.now() + wait_ms;
      const known = timers.get(name);
      if (stopped || (known && known.at <= at) || (!known && timers.size >= timers_max)) return;
      clearTimeout(known?.timer);
      const timer = setTimeout(() => {
        timers.delete(name);
        void wake(queue);
      }, wait_ms);
      timers.set(name, { timer, at });
    },
    stop() {
      stopped = true;
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
