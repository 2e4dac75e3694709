import type { QueueRef } from "../deps.ts";

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
