import type { Lease } from "@atlasqueue/core/internal/worker";
import { expect, test } from "vitest";
import { runningJobs } from "./running-jobs.ts";

const leases = (...ids: string[]) => ids.map((id) => ({ id, tenant: "a", lease_token: "t" }) as Lease);

test("a claim is settled to the last job only when those not yet begun are settled too", () => {
  const running = runningJobs(10, 10);
  const [one, other] = leases("a", "b") as [Lease, Lease];
  running.claimed([one, other]);
  running.settled(running.add(one));
  expect(running.takeSettledClaims(10)).toEqual([]);
  running.settled(running.add(other));
  expect(running.takeSettledClaims(10)).toEqual([{ tenant: "a", lease_token: "t" }]);
});

test("a claim with a job that is not started is left to the sweep", () => {
  const running = runningJobs(10, 10);
  const [one, other] = leases("a", "b") as [Lease, Lease];
  running.claimed([one, other]);
  running.settled(running.add(one));
  running.notAllStarted([other]);
  expect(running.takeSettledClaims(10)).toEqual([]);
});
