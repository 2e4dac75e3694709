import { expect, vi } from "vitest";
import { claim, claimReady } from "../../../src/lease/claim.ts";
import { extendLeases, heartbeat } from "../../../src/lease/extend.ts";
import type { Lease } from "../../../src/lease/lease.ts";
import { release, revokeClaim } from "../../../src/lease/release.ts";
import { complete, fail } from "../../../src/settle/settle.ts";
import { park } from "../../../src/steps/park.ts";
import * as claiming from "../claiming.ts";
import * as leasing from "../leasing.ts";
import { idsOf, leasesOf, tenant, type Real } from "../real.ts";
import { type Model } from "../state.ts";
import { type Act, queues, one, jobsIn, someLeases, workers } from "./choices.ts";

function took(model: Model, real: Real, expected: readonly { job: number; token: number }[], leases: readonly Lease[]) {
  const numbers = new Map(real.ids.map((id, n) => [id, n]));
  const taken = leases.map((lease) => ({ lease, job: numbers.get(lease.id) ?? -1 }));
  expect(taken.map(({ job }) => job).toSorted()).toEqual(expected.map(({ job }) => job).toSorted());
  for (const { lease, job } of taken) {
    const token = expected.find((lent) => lent.job === job)?.token ?? -1;
    expect(real.tokens.get(token) ?? lease.lease_token).toBe(lease.lease_token);
    real.tokens.set(token, lease.lease_token);
    real.leases.set(`${job} ${token}`, lease);
    expect(lease.attempts).toBe(model.jobs.get(job)?.attempts);
  }
}

const claimer = (worker: string, lease_seconds: number) => ({
  tenant,
  queues,
  worker_id: worker,
  lease_seconds,
});

/** What workers do. */
export const work: Record<string, Act> = {
  claim: async (model, real, draw) => {
    const wanted = jobsIn(model, draw, 5, "queued");
    const [worker, seconds] = [one(draw, workers), one(draw, [30, 60])];
    const leases = await claim(real.deps, idsOf(real, wanted), claimer(worker, seconds));
    took(model, real, claiming.claim(model, wanted, { worker, seconds }), leases);
  },
  "claim by age": async (model, real, draw) => {
    const jobs_max = 1 + draw(4);
    const [worker, chance] = [one(draw, workers), one(draw, [0, 0.5, 0.99])];
    // The same number each time.
    const random = vi.spyOn(Math, "random").mockReturnValue(chance);
    const leases = await claimReady(real.deps, jobs_max, claimer(worker, 30)).finally(() => random.mockRestore());
    took(model, real, claiming.claimByAge(model, queues, jobs_max, chance, { worker, seconds: 30 }), leases);
  },
  extend: async (model, real, draw) => {
    const leases = someLeases(model, draw, 3);
    const seconds = one(draw, [30, 10]);
    const { lost, locked } = await extendLeases(real.deps, leasesOf(real, leases), seconds);
    expect(lost.map(({ id }) => id)).toEqual(idsOf(real, leasing.extend(model, leases, seconds)));
    expect(locked).toEqual([]);
  },
  heartbeat: async (model, real, draw) => {
    for (const lease of someLeases(model, draw, 1)) {
      const [{ id, lease_token } = { id: "", lease_token: "" }] = leasesOf(real, [lease]);
      const outcome = await heartbeat(real.deps, tenant, { id, lease_token, lease_seconds: 20, progress: 1 });
      expect(outcome.kind).toBe(leasing.heartbeat(model, lease, 20));
    }
  },
  complete: async (model, real, draw) => {
    const leases = someLeases(model, draw, 3);
    const completions = leasesOf(real, leases).map((lease) => ({ lease, result: one(draw, [null, 1]) }));
    const outcomes = completions.length > 0 ? await complete(real.deps, completions) : [];
    expect(outcomes.map(({ kind }) => kind)).toEqual(leasing.complete(model, leases));
  },
  fail: async (model, real, draw) => {
    const leases = someLeases(model, draw, 3);
    const delay_ms = one(draw, [0, 5_000, "dead"] as const);
    const verdict =
      delay_ms === "dead"
        ? ({ kind: "dead", reason: "not_retryable" } as const)
        : ({ kind: "retry", delay_ms } as const);
    const failures = leasesOf(real, leases).map((lease) => ({ lease, error: "E: x", verdict }));
    const outcomes = failures.length > 0 ? await fail(real.deps, failures) : [];
    expect(outcomes.map(({ kind }) => kind)).toEqual(leasing.fail(model, leases, delay_ms));
  },
  release: async (model, real, draw) => {
    const leases = someLeases(model, draw, 3);
    const later = one(draw, [false, true]);
    const { given, locked } = await release(real.deps, leasesOf(real, leases), { later });
    expect(given.map(({ id }) => id)).toEqual(idsOf(real, leasing.release(model, leases, later)));
    expect(locked).toEqual([]);
  },
  "take back": async (model, real, draw) => {
    for (const { token } of someLeases(model, draw, 1)) {
      await revokeClaim(real.deps, tenant, real.tokens.get(token) ?? "");
      leasing.revokeClaim(model, token);
    }
  },
  park: async (model, real, draw) => {
    for (const lease of someLeases(model, draw, 1)) {
      const seconds = one(draw, [5, 100]);
      const outcome = await park(real.deps, leasesOf(real, [lease])[0] as Lease, "go", seconds);
      expect(outcome.kind).toBe(leasing.park(model, lease, "go", seconds));
    }
  },
};
