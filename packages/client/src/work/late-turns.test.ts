import { expect, onTestFinished, test, vi } from "vitest";
import { NetworkError, TimeoutError } from "../errors.ts";
import type { LeaseCalls, LeasedJob } from "../resources/leases.ts";
import { createRepeats } from "../http/first-answer.ts";
import { heldJobs } from "./held-jobs.ts";
import { createLateStarts } from "./late-starts.ts";
import { newRun } from "./runs.ts";
import { fakeClock } from "../../test/fake-clock.ts";
import { standStill } from "../../test/stand-still.ts";

/** Jobs of whose leases so many seconds are left, and how the API answers their heartbeats. */
function starting(lease_seconds: number, left_seconds: number, heartbeat: LeaseCalls["heartbeat"]) {
  fakeClock();
  const held = heldJobs(10);
  const calls = { heartbeat } as LeaseCalls;
  const repeats = createRepeats(() => 4);
  const job = () => {
    const leased = { job: { id: "17" }, ends_at_ms: performance.now() + left_seconds * 1_000 } as LeasedJob;
    const one = held.add(leased, newRun());
    onTestFinished(() => held.leave(one));
    return one;
  };
  return { held, job, mayStart: createLateStarts({ calls, held, observe: () => {}, lease_seconds, repeats }) };
}
const answered = async () => ({}) as Awaited<ReturnType<LeaseCalls["heartbeat"]>>;

test("jobs whose renewals are answered at once start one in a turn of the loop, so that other renewals go out meanwhile", async () => {
  const { job, mayStart } = starting(10, 6, answered);
  vi.useRealTimers();
  let turn = 0;
  const counting = setInterval(() => (turn += 1), 0);
  onTestFinished(() => clearInterval(counting));
  const started = await Promise.all([1, 2, 3, 4].map(() => mayStart(job()).then((may) => may && turn)));
  expect(new Set(started).size).toBe(4);
});

test("one that is lost or given back while it waits for its turn does not start", async () => {
  const { held, job, mayStart } = starting(10, 6, answered);
  const [lost, stopped] = [job(), job()];
  const may = [mayStart(lost), mayStart(stopped)];
  await Promise.resolve();
  held.leave(lost);
  held.handlerEnded(stopped);
  await vi.advanceTimersByTimeAsync(0);
  expect(await Promise.all(may)).toEqual([false, false]);
});

test("after a handler that hogged the processor there is time for answers to be read before the next one starts", async () => {
  const { job, mayStart } = starting(10, 6, answered);
  vi.useRealTimers();
  let turn = 0;
  const counting = setInterval(() => (turn += 1), 0);
  onTestFinished(() => clearInterval(counting));
  const started = await Promise.all(
    [1, 2].map(async () => {
      await mayStart(job());
      const at = turn;
      standStill(500);
      return at;
    }),
  );
  expect((started[1] ?? 0) - (started[0] ?? 0)).toBeGreaterThan(5);
});

test("one whose lease ends while it waits for its turn does not start", async () => {
  const { job, mayStart } = starting(10, 6, answered);
  const one = job();
  const may = mayStart(one);
  await vi.advanceTimersByTimeAsync(0);
  one.ends_at_ms = performance.now();
  await vi.advanceTimersByTimeAsync(200);
  expect(await may).toBe(false);
});

test("one that could not be renewed is held for as long as a lost renewal may hold it, to be given back", async () => {
  const { held, job, mayStart } = starting(10, 6, async () => {
    throw new NetworkError("cut", { cause: undefined, refused: false });
  });
  const one = job();
  const may = mayStart(one);
  await vi.advanceTimersByTimeAsync(7_000);
  expect(await may).toBe(false);
  expect(held.holds(one)).toBe(true);
  expect(one.ends_at_ms).toBeGreaterThan(performance.now() + 8_000);
});

test.each([
  [60, 39],
  [30, 19],
  [20, 13],
  [20, 12],
])(
  "a late start with a lease of %i s, of which %i are left, has another try when one is swallowed",
  async (lease, left) => {
    let heartbeats = 0;
    const { mayStart, job } = starting(lease, left, async (_held, _options, { timeoutMs = 0, signal } = {}) => {
      heartbeats += 1;
      if (heartbeats > 1) return {} as Awaited<ReturnType<LeaseCalls["heartbeat"]>>;
      return new Promise((_, reject) => {
        const end = () => reject(new TimeoutError("no answer"));
        setTimeout(end, timeoutMs);
        signal?.addEventListener("abort", end);
      });
    });
    const may = mayStart(job());
    await vi.advanceTimersByTimeAsync(left * 1_000 - 1);
    expect(await may).toBe(true);
    expect(heartbeats).toBeGreaterThan(1);
  },
);
