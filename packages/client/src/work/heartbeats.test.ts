import { keepLeases } from "@atlasqueue/runtime";
import { expect, test, vi } from "vitest";
import { fakeClock } from "../../test/fake-clock.ts";
import { problemOf } from "../../test/problems.ts";
import { swallowed } from "../../test/swallowed.ts";
import { UnavailableError } from "../errors.ts";
import type { LeaseCalls, LeasedJob } from "../resources/leases.ts";
import { heldJobs } from "./held-jobs.ts";
import { heartbeats, report } from "./heartbeats.ts";
import type { WorkerCalls } from "./parts.ts";

const problem = problemOf("unavailable");

/** A worker with one job, and how the API answers its heartbeats. */
function keeping(lease_seconds: number, heartbeat: LeaseCalls["heartbeat"]) {
  fakeClock();
  const lease_ms = lease_seconds * 1_000;
  const held = heldJobs(1, lease_ms);
  const job = held.add({ job: { id: "17" }, ends_at_ms: performance.now() + lease_ms } as LeasedJob);
  job.began_at_ms = performance.now();
  const stop = new AbortController();
  const source = heartbeats({ calls: { heartbeat } as WorkerCalls, held, observe: () => {}, lease_seconds });
  const { wake, kept } = keepLeases(held, source, { lease_ms, stop: stop.signal });
  return { held, job, wake, stopped: () => (stop.abort(), kept) };
}

test("in an outage a handler's progress waits for the next renewal, which rests the longer the more of a lease is left", async () => {
  const asked: unknown[] = [];
  let is_away = true;
  const { job, wake, stopped } = keeping(300, async (_held, options) => {
    asked.push(options?.progress);
    if (is_away) throw new UnavailableError("away", { status: 503, problem });
    return {} as Awaited<ReturnType<LeaseCalls["heartbeat"]>>;
  });
  const reportOne = async (n: number) => {
    report(job, n, wake);
    await vi.advanceTimersByTimeAsync(1_000);
  };
  for (let n = 0; n < 10; n += 1) await reportOne(n);
  // With so much of the lease left a renewal rests for eighteen seconds and more, progress for ten.
  expect(asked).toEqual([0]);
  is_away = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked).toEqual([0, 9]);
  // Once a second again.
  await reportOne(10);
  await reportOne(11);
  expect(asked).toEqual([0, 9, 10, 11]);
  await stopped();
});

test("no renewal goes on for a job that is held no more", async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const { held, job, stopped } = keeping(12, (_held, _options, { signal } = {}) => {
    signals.push(signal);
    return swallowed(signal);
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
  held.leave(job);
  expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(signals).toHaveLength(1);
  await stopped();
  expect(vi.getTimerCount()).toBe(0);
});
