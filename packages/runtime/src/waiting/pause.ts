/** A timer set for longer fires at once. */
const timer_ms_max = 2 ** 31 - 1;

/** Wait at most `ms`, or until the signal aborts. Never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, timer_ms_max));
    signal?.addEventListener("abort", end, { once: true });
  });
}

const rest_ms_min = 100;
const rest_ms_max = 1_000;

/** How long to rest after so many failures in a row: twice as long each time, up to a second, give or take a half. */
export const restMs = (failures: number): number =>
  Math.min(rest_ms_min * 2 ** (failures - 1), rest_ms_max) * (0.5 + Math.random());

/** After this turn of the event loop, so that calls of the same turn are served together. */
export function soon(act: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (act: () => void) => unknown };
  if (setImmediate) setImmediate(act);
  else setTimeout(act, 0);
}

/** What the work resolves with, or undefined when the time is over before. */
export async function until<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const over = new AbortController();
  try {
    return await Promise.race([work, pause(Math.max(0, ms), over.signal).then(() => undefined)]);
  } finally {
    over.abort();
  }
}
