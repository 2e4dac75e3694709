import { expect, onTestFinished, test, vi } from "vitest";
import { createTrigger } from "./trigger.ts";

test("the work is done once for all pulls of a turn, and once more for those that come meanwhile", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const stop = new AbortController();
  let works = 0;
  const trigger = createTrigger(async () => void (works += 1), { rest_ms: 1_000, stop: stop.signal });
  trigger.pull();
  trigger.pull();
  await turn();
  expect(works).toBe(1);
  trigger.pull();
  await vi.advanceTimersByTimeAsync(999);
  expect(works).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(works).toBe(2);
  await vi.advanceTimersByTimeAsync(1_000);
  trigger.pull();
  await turn();
  expect(works).toBe(3);
  stop.abort();
  trigger.pull();
  await turn();
  expect(works).toBe(3);
});
