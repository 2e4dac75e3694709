import { firstId } from "../ids.ts";
import { expect, test } from "vitest";
import { completeAll, claimer, engineHarness } from "../../test/engine-harness.ts";
import { reindexOrphanedLeases, countOrphanedLeases } from "./reindex-orphaned-leases.ts";
import { claim } from "./claim.ts";
import { recoverExpired } from "./recover.ts";

const { deps, recorded, addMany } = engineHarness();

test("running jobs whose claim's row is gone are found, tracked again and recovered, and no others", async () => {
  const ids = await addMany(12);
  const lost = await claim(deps, ids.slice(0, 7), { ...claimer, lease_seconds: 0.001 });
  const kept = await claim(deps, ids.slice(7, 11), { ...claimer, lease_seconds: 60 });
  expect(await countOrphanedLeases(deps)).toBe(0);
  await deps.database.sql`DELETE FROM atlasqueue.claims WHERE token = ${lost[0]?.lease_token ?? ""}`;
  await completeAll(deps, [...lost.slice(6), ...kept.slice(3)]);
  expect(await countOrphanedLeases(deps)).toBe(6);
  expect((await recoverExpired(deps, 50)).requeued).toEqual([]);

  let found = 0;
  for (let after: string | undefined = firstId; after !== undefined;) {
    const step: Awaited<ReturnType<typeof reindexOrphanedLeases>> = await reindexOrphanedLeases(deps, after, 4);
    found += step.adopted;
    after = step.next;
  }
  expect([found, await countOrphanedLeases(deps)]).toEqual([6, 0]);
  expect(recorded.named("orphaned_leases_recovered").length).toBe(2);
  const { requeued } = await recoverExpired(deps, 50);
  expect(requeued.map(({ id }) => id).toSorted()).toEqual(ids.slice(0, 6));
  expect((await reindexOrphanedLeases(deps, firstId, 100)).adopted).toBe(0);
});
