import { expect, test, vi } from "vitest";
import { patiently, type Patience } from "./patiently.ts";

const away = new Error("away");
const patience = (options: Partial<Patience>): Patience => ({
  check: () => {},
  judge: () => (error) => error === away,
  failed: () => {},
  ...options,
});

test("a question is repeated until it is answered, and each failure is told", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let asked = 0;
    const failures: unknown[] = [];
    const answer = patiently(patience({ failed: (error) => failures.push(error) }), async () => {
      asked += 1;
      if (asked < 4) throw away;
      return asked;
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await answer).toBe(4);
    expect(failures).toEqual([away, away, away]);
  } finally {
    vi.useRealTimers();
  }
});

test("a failure that does not pass, and the end of the attempt, end it", async () => {
  const wrong = new Error("wrong");
  await expect(patiently(patience({}), () => Promise.reject(wrong))).rejects.toBe(wrong);
  const over = new AbortController();
  const check = () => over.signal.throwIfAborted();
  const asking = patiently(patience({ check, signal: over.signal }), () => Promise.reject(away));
  over.abort(wrong);
  await expect(asking).rejects.toBe(wrong);
});
