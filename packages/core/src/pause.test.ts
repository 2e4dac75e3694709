import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { yieldEvery } from "./pause.ts";

afterEach(() => vi.restoreAllMocks());

/** The clock goes on by a millisecond with each thing done; `others` counts the turns of the event loop. */
function world() {
  const seen = { now: 0, turns: 0 };
  let over = false;
  vi.spyOn(performance, "now").mockImplementation(() => seen.now);
  const counting = (async () => {
    for (; !over; seen.turns += 1) await nextTurn();
  })();
  const longLoop = async (steps: number) => {
    const rest = yieldEvery();
    for (let n = 0; n < steps; n += 1) {
      seen.now += 1;
      await rest();
    }
  };
  const stop = () => {
    over = true;
    return counting;
  };
  return { seen, longLoop, stop };
}

test("a long loop gives everybody else a turn each time it has used four milliseconds, and not before", async () => {
  const { seen, longLoop, stop } = world();
  await longLoop(39);
  expect(seen.turns).toBeGreaterThanOrEqual(9);
  expect(seen.turns).toBeLessThan(20);
  await stop();
});
