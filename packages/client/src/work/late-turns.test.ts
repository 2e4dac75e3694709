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

/** Swallows what the worker asks for, for so long, and answers then. */
function swallowsFor(ms: number) {
  const asked_ms: number[] = [];
  const began_ms = performance.now();
  const heartbeat: LeaseCalls["heartbeat"] = async (_held, _options, { timeoutMs = 0, signal } = {}) => {
    asked_ms.push(performance.now() - began_ms);
    if (performance.now() - began_ms >= ms) return answered();
    return new Promise((_, reject) => {
      const end = () => reject(new TimeoutError("no answer"));
      setTimeout(end, timeoutMs);
      signal?.addEventListener("abort", end);
    });
  };
  return { asked_ms, heartbeat };
}

test.each([
  [60, 39],
  [30, 19],
  [20, 13],
  [20, 12],
])(
  "a late start with a lease of %i s, of which %i are left, has another try when one is swallowed",
  async (lease, left) => {
    fakeClock();
    const { asked_ms, heartbeat } = swallowsFor(1);
    const { mayStart, job } = starting(lease, left, heartbeat);
    const may = mayStart(job());
    await vi.advanceTimersByTimeAsync(left * 1_000 - 1);
    expect(await may).toBe(true);
    expect(asked_ms.length).toBeGreaterThan(1);
  },
);

test.each([
  [3, 1.9],
  [10, 6],
  [30, 12],
  [300, 150],
])(
  "a lease of %i s of which at least %s were left began later than it was asked for: it is asked for again until it has ended",
  async (lease, left) => {
    fakeClock();
    // Until the lease would have ended if it had begun when it was asked for.
    const { heartbeat } = swallowsFor(left * 1_000);
    const { mayStart, job } = starting(lease, left, heartbeat);
    const may = mayStart(job());
    await vi.advanceTimersByTimeAsync(left * 1_000 + Math.max(1_100, (lease * 1_000) / 17));
    expect(await Promise.race([may, "not yet"])).toBe(true);
  },
);

test("and no longer: nobody's answer is waited for as long as the network swallows all", async () => {
  fakeClock();
  const { asked_ms, heartbeat } = swallowsFor(Infinity);
  const { mayStart, job } = starting(30, 12, heartbeat);
  const may = mayStart(job());
  await vi.advanceTimersByTimeAsync(61_000);
  expect(await may).toBe(false);
  expect(asked_ms.length).toBeLessThan(30);
  expect(Math.max(...asked_ms)).toBeLessThan(30_000);
});
