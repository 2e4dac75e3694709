import { newRun } from "@atlasqueue/runtime";
import { expect, test, vi } from "vitest";
import { fakeClock } from "../../test/fake-clock.ts";
import { problemOf } from "../../test/problems.ts";
import { swallowed } from "../../test/swallowed.ts";
import { UnavailableError } from "../errors.ts";
import type { LeaseCalls, LeasedJob } from "../resources/leases.ts";
import { heldJobs } from "./held-jobs.ts";
import { keepLease, type KeeperDeps } from "./lease-keeper.ts";

const problem = problemOf("unavailable");

/** A worker with one job, and how the API answers its heartbeats. */
function keeping(lease_seconds: number, heartbeat: LeaseCalls["heartbeat"]) {
  fakeClock();
  const held = heldJobs(1);
  const leased = { job: { id: "17" }, ends_at_ms: performance.now() + lease_seconds * 1_000 } as LeasedJob;
  const job = held.add(leased, newRun());
  const calls = { heartbeat } as LeaseCalls;
  const deps: KeeperDeps = { calls, held, observe: () => {}, lease_seconds };
  return { held, job, kept: keepLease(deps, job) };
}

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
    return swallowed(signal);
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
  held.leave(job);
  await kept;
  expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  expect(vi.getTimerCount()).toBe(0);
});
