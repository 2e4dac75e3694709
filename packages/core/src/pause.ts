import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

/** Wait at most `ms`, or until the signal aborts. Never rejects. */
export async function pause(ms: number, stop?: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: stop }).catch(() => {});
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
