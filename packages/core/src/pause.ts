import { setTimeout as startTimer } from "node:timers";
import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Wait at most `ms`, or until the signal aborts. Never rejects: the promise of Node's timers does so with an error whose
 * making costs an idle process a tenth of what it uses.
 */
export function pause(ms: number, stop?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      stop?.removeEventListener("abort", end);
      resolve();
    };
    const timer = startTimer(end, ms);
    stop?.addEventListener("abort", end);
  });
}

/** What a process may do without a rest: a few milliseconds' worth. */
const turn_ms_max = 4;

/**
 * For a long loop that awaits nothing: gives the event loop a turn whenever some milliseconds were used since its last
 * one, and undefined otherwise. Meanwhile other requests are answered, probes too.
 *
 * @example
 * const rest = yieldEvery();
 * for (const one of many) (reckon(one), await rest());
 */
export function yieldEvery(): () => Promise<void> | undefined {
  let turned_at = performance.now();
  const turn = async () => {
    await nextTurn();
    turned_at = performance.now();
  };
  return () => (performance.now() - turned_at < turn_ms_max ? undefined : turn());
}
