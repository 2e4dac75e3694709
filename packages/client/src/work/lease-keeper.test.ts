import { expect, onTestFinished, test, vi } from "vitest";
import { UnavailableError } from "../errors.ts";
import type { LeaseCalls, LeasedJob } from "../resources/leases.ts";
import { heldJobs } from "./held-jobs.ts";
import { keepLease } from "./lease-keeper.ts";
import { newRun } from "./runs.ts";

const problem = { type: "/problems/unavailable", title: "away", status: 503, detail: "away", instance: "1" };

test("in an outage a handler's progress waits for the next renewal, which rests the longer the more of a lease is left", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const asked: unknown[] = [];
  let is_away = true;
  const heartbeat: LeaseCalls["heartbeat"] = async (_held, options) => {
    asked.push(options?.progress);
    if (is_away) throw new UnavailableError("away", { status: 503, problem });
    return {} as Awaited<ReturnType<LeaseCalls["heartbeat"]>>;
  };
  const held = heldJobs(1);
  const leased = { job: { id: "17" }, ends_at_ms: performance.now() + 300_000 } as LeasedJob;
  const job = held.add(leased, newRun());
  const kept = keepLease({ calls: { heartbeat } as LeaseCalls, held, observe: () => {}, lease_seconds: 300 }, job);
  const report = async (n: number) => {
    job.progress = { value: n };
    job.wake();
    await vi.advanceTimersByTimeAsync(1_000);
  };
  for (let n = 0; n < 10; n += 1) await report(n);
  // The shortest rest with so much of the lease left is eighteen seconds.
  expect(asked).toEqual([0]);
  is_away = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(asked).toEqual([0, 9]);
  // Once a second again.
  await report(10);
  await report(11);
  expect(asked).toEqual([0, 9, 10, 11]);
  held.leave(job);
  await kept;
});
