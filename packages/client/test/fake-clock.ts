import { onTestFinished, vi } from "vitest";

const faked = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] as const;

/**
 * A clock that costs no time, until the test has finished. Returns what lets time pass on it.
 *
 * @example
 * const pass = fakeClock();
 * await pass(60_000);
 */
export function fakeClock(): (ms: number) => Promise<unknown> {
  vi.useFakeTimers({ toFake: [...faked] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => vi.advanceTimersByTimeAsync(ms);
}
