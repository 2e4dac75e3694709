import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { claim } from "./claim.ts";
import { endLeases, recoverExpired } from "./recover.ts";
import { extendLeases } from "./extend.ts";
import type { Lease } from "./lease.ts";

const { deps, add } = engineHarness();
const lease = async (worker_id: string): Promise<Lease[]> =>
  claim(deps, await add({}, {}), { tenant: "default", queues: ["default"], worker_id, lease_seconds: 600 });

test("the leases of a worker end, those of others stay", async () => {
  const [gone, alive] = [await lease("gone"), await lease("gone-not")];
  expect(await endLeases(deps, "gone")).toEqual({ ended: 2, locked: 0 });
  const { requeued } = await recoverExpired(deps, 10);
  expect(requeued.map(({ id }) => id).toSorted()).toEqual(gone.map(({ id }) => id).toSorted());
  expect((await extendLeases(deps, alive, 30)).lost).toEqual([]);
  expect(await endLeases(deps, "gone")).toEqual({ ended: 0, locked: 0 });
});
