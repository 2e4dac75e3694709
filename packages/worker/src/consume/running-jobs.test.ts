import type { Lease } from "@atlasqueue/core/internal";
import { expect, test } from "vitest";
import { runningJobs } from "./running-jobs.ts";

const leases = (...ids: string[]) => ids.map((id) => ({ id, tenant: "acme", lease_token: "t" }) as Lease);

test("a claim is settled to the last job only when those not yet begun are settled too", () => {
  const running = runningJobs(10, 10);
  const [one, other] = leases("a", "b") as [Lease, Lease];
  running.claimed([one, other]);
  running.settled(running.add(one));
  expect(running.takeSettledClaims(10)).toEqual([]);
  running.settled(running.add(other));
  expect(running.takeSettledClaims(10)).toEqual(["t"]);
});

test("a claim with a job that is not started is left to the sweep", () => {
  const running = runningJobs(10, 10);
  const [one, other] = leases("a", "b") as [Lease, Lease];
  running.claimed([one, other]);
  running.settled(running.add(one));
  running.notAllStarted([other]);
  expect(running.takeSettledClaims(10)).toEqual([]);
});

test("a tenant's slots are those of its claims under way and of its jobs, until their handlers end", () => {
  const running = runningJobs(10, 10);
  const [one, other] = (leases("a", "b") as [Lease, Lease]).map((lease) => running.add(lease));
  if (!one || !other) throw new Error("two jobs");
  const giveUpRoom = running.reserve("acme", 3);
  expect(running.slotsOf("acme")).toBe(5);
  giveUpRoom();
  // Its group goes on in the same slot, until it cannot.
  running.handlerEnded(one, 1, true);
  running.handlerEnded(other, 1);
  running.settled(other);
  expect(running.slotsOf("acme")).toBe(1);
  running.endRun(one);
  running.settled(one);
  expect([running.slotsOf("acme"), running.slotsOf("other")]).toEqual([0, 0]);
});
