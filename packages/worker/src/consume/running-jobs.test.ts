import type { Lease } from "@atlasqueue/core/internal/worker";
import { expect, test } from "vitest";
import { runningJobs, type RunningJob } from "./running-jobs.ts";

const leases = (...ids: string[]) => ids.map((id) => ({ id, tenant: "a", lease_token: "t" }) as Lease);
const due = { ends_at_ms: 30_000, renew_at_ms: 10_000 };

test("a claim is settled to the last job only when those not yet begun are settled too", () => {
  const running = runningJobs(10, 10);
  const [one, other] = running.claimed(leases("a", "b"), due) as [RunningJob, RunningJob];
  running.settled(one);
  expect(running.takeSettledClaims(10)).toEqual([]);
  running.settled(other);
  expect(running.takeSettledClaims(10)).toEqual([{ tenant: "a", lease_token: "t" }]);
});

test("a claim with a job that is given back is left to the sweep", () => {
  const running = runningJobs(10, 10);
  const [one, other] = running.claimed(leases("a", "b"), due) as [RunningJob, RunningJob];
  running.leave(other);
  running.settled(one);
  expect(running.takeSettledClaims(10)).toEqual([]);
});
