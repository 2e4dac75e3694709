import { expect, onTestFinished, test, vi } from "vitest";
import { TimeoutError, UnavailableError } from "../errors.ts";
import type { LeaseCalls, LeasedJob } from "../resources/leases.ts";
import { heldJobs } from "./held-jobs.ts";
import { createRepeats } from "./first-answer.ts";
import { keepLease, renewLate, type KeeperDeps } from "./lease-keeper.ts";
import { newRun } from "./runs.ts";

const problem = { type: "/problems/unavailable", title: "away", status: 503, detail: "away", instance: "1" };

/** A worker with one job, of whose lease so many seconds are left, and how the API answers its heartbeats. */
function holding(lease_seconds: number, heartbeat: LeaseCalls["heartbeat"], left_seconds = lease_seconds) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const held = heldJobs(1);
  const leased = { job: { id: "17" }, ends_at_ms: performance.now() + left_seconds * 1_000 } as LeasedJob;
  const job = held.add(leased, newRun());
  const calls = { heartbeat } as LeaseCalls;
  const deps: KeeperDeps = { calls, held, observe: () => {}, lease_seconds, repeats: createRepeats(held.size) };
  return { held, job, deps };
}
const keeping = (lease_seconds: number, heartbeat: LeaseCalls["heartbeat"]) => {
  const holds = holding(lease_seconds, heartbeat);
  return { ...holds, kept: keepLease(holds.deps, holds.job) };
};

test("in an outage a handler's progress waits for the next renewal, which rests the longer the more of a lease is left", async () => {
  const asked: unknown[] = [];
  let is_away = true;
  const { held, job, kept } = keeping(300, async (_held, options) => {
    asked.push(options?.progress);
    if (is_away) throw new UnavailableError("away", { status: 503, problem });
    return {} as Awaited<ReturnType<LeaseCalls["heartbeat"]>>;
  });
  const report = async (n: number) => {
    job.progress = { value: n };
    job.wake();
    await vi.advanceTimersByTimeAsync(1_000);
  };
  for (let n = 0; n < 10; n += 1) await report(n);
  // With so much of the lease left a renewal rests for eighteen seconds and more, progress for ten.
  expect(asked).toEqual([0]);
  is_away = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked).toEqual([0, 9]);
  // Once a second again.
  await report(10);
  await report(11);
  expect(asked).toEqual([0, 9, 10, 11]);
  held.leave(job);
  await kept;
});

test("no renewal goes on for a job that is held no more", async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const { held, job, kept } = keeping(12, (_held, _options, { signal } = {}) => {
    signals.push(signal);
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
  });
  await vi.advanceTimersByTimeAsync(8_000);
  expect(signals).toHaveLength(2);
  held.leave(job);
  await kept;
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
  expect(vi.getTimerCount()).toBe(0);
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
    const { deps, job } = holding(
      lease,
      async (_held, _options, { timeoutMs = 0, signal } = {}) => {
        heartbeats += 1;
        if (heartbeats > 1) return {} as Awaited<ReturnType<LeaseCalls["heartbeat"]>>;
        return new Promise((_, reject) => {
          const end = () => reject(new TimeoutError("no answer"));
          setTimeout(end, timeoutMs);
          signal?.addEventListener("abort", end);
        });
      },
      left,
    );
    const renewed = renewLate(deps, job);
    await vi.advanceTimersByTimeAsync(left * 1_000);
    expect(heartbeats).toBe(2);
    expect(await renewed).toBe(true);
  },
);
