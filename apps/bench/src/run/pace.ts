import { setTimeout as delay } from "node:timers/promises";

const tick_ms = 5;

type Pace = { per_second: number; seconds: number; until?: () => boolean };

/**
 * Ask for `per_second` things for a while, however fast they are done: every few milliseconds as many as are due. Waits
 * for each `act` before the next one.
 */
export async function atPace({ per_second, seconds, until }: Pace, act: (count: number) => unknown): Promise<number> {
  const start = performance.now();
  let asked = 0;
  let elapsed_ms = 0;
  while (elapsed_ms < seconds * 1_000 && !until?.()) {
    await delay(tick_ms);
    elapsed_ms = performance.now() - start;
    const due = Math.floor((Math.min(elapsed_ms, seconds * 1_000) * per_second) / 1_000) - asked;
    asked += due;
    if (due > 0) await act(due);
  }
  return asked;
}
