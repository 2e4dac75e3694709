import { firstId } from "../../../src/ids.ts";
import { reindexOrphanedLeases } from "../../../src/lease/reindex-orphaned-leases.ts";
import { claim, claimReady } from "../../../src/lease/claim.ts";
import { endLeases, recoverExpired } from "../../../src/lease/recover.ts";
import { extendLeases, reportProgress, heartbeat } from "../../../src/lease/extend.ts";
import { forgetClaims, forgetEndedClaims } from "../../../src/lease/forget-claims.ts";
import type { Lease } from "../../../src/lease/lease.ts";
import { release, revokeClaim } from "../../../src/lease/release.ts";
import { completeWithChildren } from "../../../src/settle/complete-with-children.ts";
import { completeAndLeaseNext } from "../../../src/settle/complete-and-lease-next.ts";
import { complete, fail } from "../../../src/settle/settle.ts";
import { park } from "../../../src/steps/park.ts";
import { storeStep } from "../../../src/steps/store.ts";
import type { World } from "../world.ts";
import { mayBeLate, ofMany, ofOne, type Moves } from "./move.ts";

const retrying = { kind: "retry", delay_ms: 0 } as const;
const dead = { kind: "dead", reason: "not_retryable" } as const;
const tokensOf = ({ leases, settled }: World) => [...leases, settled].map(({ lease_token }) => lease_token);

/** One of the leases adds jobs as it ends. */
const spawn =
  (lease: (world: World) => Lease, dependants_wait: boolean) =>
  (world: World, deps: World["deps"]): Promise<unknown> =>
    completeWithChildren(
      deps,
      { lease: lease(world), result: null },
      { children: [world.asks({ group: "g" }), world.asks({})], dependants_wait },
    ).catch(mayBeLate);

/** What workers do with their leases, and what is done about those that are lost. */
export const leaseMoves: Moves = {
  ...ofMany({
    claim: async ({ claimer, plain, limited, group, taken }, deps) =>
      taken.push(...(await claim(deps, [...plain, ...group, ...limited], claimer))),
    "claim by age": async ({ claimer, taken }, deps) => taken.push(...(await claimReady(deps, 20, claimer))),
    extend: ({ leases }, deps) => extendLeases(deps, leases, 10),
    "report progress": ({ leases }, deps) =>
      reportProgress(
        deps,
        leases.map((lease) => ({ lease, progress: 1 })),
      ),
    complete: ({ leases }, deps) =>
      complete(
        deps,
        leases.map((lease) => ({
          lease,
          result: 1,
          log: [{ at: "2026-01-01T00:00:00.000Z", line: "x" }],
        })),
      ),
    "complete and take the next": async ({ leases, taken, claimer }, deps) => {
      const completions = leases.map((lease) => ({ lease, result: 1 }));
      const done = await completeAndLeaseNext(deps, completions, { ...claimer, after: leases.map(({ id }) => id) });
      taken.push(...done.next.values());
    },
    fail: ({ leases }, deps) =>
      fail(
        deps,
        leases.map((lease) => ({ lease, error: "x", verdict: retrying })),
      ),
    "fail for good": ({ leases }, deps) =>
      fail(
        deps,
        leases.map((lease) => ({ lease, error: "x", verdict: dead })),
      ),
    release: ({ leases }, deps) => release(deps, leases),
    "release for later": ({ leases }, deps) => release(deps, leases, { later: true }),
    // It gives up on a claim's locked row, and its caller repeats it.
    "take back": async ({ tenant, leases }, deps) =>
      revokeClaim(deps, tenant, leases[0]?.lease_token ?? "").catch(mayBeLate),
    "take back what never came": async ({ tenant, unanswered }, deps) =>
      revokeClaim(deps, tenant, unanswered).catch(mayBeLate),
    recover: (_world, deps) => recoverExpired(deps, 50),
    "end leases": ({ claimer }, deps) => endLeases(deps, claimer.worker_id),
  }),
  // The rows of claims: only single statements of ours ever lock them, so those are what it may wait for.
  ...ofOne("claims", {
    "forget claims": ({ settled }, deps) => forgetClaims(deps, [settled]),
    "forget ended claims": (world, deps) => forgetEndedClaims(deps, tokensOf(world)),
    "reindex orphaned leases": (_world, deps) => reindexOrphanedLeases(deps, firstId, 1_000),
  }),
  ...ofOne("running", {
    // It shortens the lease, and so moves when the sweep looks at its claim as well.
    heartbeat: ({ tenant, held, leases }, deps) =>
      heartbeat(deps, tenant, {
        id: held,
        lease_token: leases[0]?.lease_token ?? "",
        lease_seconds: 20,
        progress: 1,
      }).catch(mayBeLate),
    "store a step": ({ leases: [lease] }, deps) => storeStep(deps, lease as Lease, "a", 1).catch(mayBeLate),
    park: ({ leases: [lease] }, deps) => park(deps, lease as Lease, "go", 3_600).catch(mayBeLate),
    spawn: spawn(({ leases: [lease] }) => lease as Lease, false),
  }),
  ...ofOne("group", {
    "park in a group": ({ leases: [, lease] }, deps) => park(deps, lease as Lease, "go", 3_600).catch(mayBeLate),
    "spawn in a group": spawn(({ leases: [, lease] }) => lease as Lease, false),
  }),
  ...ofOne("flow", {
    "spawn in a flow": spawn(({ leases: [, , , lease] }) => lease as Lease, true),
  }),
};
