import { expect, onTestFinished, test, vi } from "vitest";
import { sourcesOf, type Held } from "./sources.ts";

const away = new Error("away");
/** Asks for the first parents, as a handler does. */
const asking = (firstParents: Held["calls"]["firstParents"], options: Partial<Held> = {}) => {
  const never = () => Promise.reject(new Error("not asked for"));
  const calls = { steps: never, storeStep: never, park: never, firstParents, parentPage: never };
  const quiet = { check() {}, failed() {}, lost() {}, parked() {}, isLost: () => false };
  return sourcesOf({ ...quiet, judge: () => (error) => error === away, calls, ...options }).parents.first();
};

test("a question is repeated until it is answered, and each failure is told", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const failures: unknown[] = [];
  const answer = asking(
    async () => {
      asked += 1;
      if (asked < 4) throw away;
      return undefined;
    },
    { failed: (during, error) => failures.push([during, error]) },
  );
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await answer).toBeUndefined();
  expect(failures).toEqual([1, 2, 3].map(() => ["parents", away]));
});

test("a failure that does not pass, and the end of the attempt, end it", async () => {
  const wrong = new Error("wrong");
  await expect(asking(() => Promise.reject(wrong))).rejects.toBe(wrong);
  const over = new AbortController();
  const check = () => over.signal.throwIfAborted();
  const answer = asking(() => Promise.reject(away), { check, signal: over.signal });
  over.abort(wrong);
  await expect(answer).rejects.toBe(wrong);
});
