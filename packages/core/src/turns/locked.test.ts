import { queueLimits } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { claimer, engineHarness, main } from "../../test/engine-harness.ts";
import { claimReady } from "../lease/claim.ts";
import { setLimits } from "../limits/set.ts";
import { createOfferInTurns } from "./offer.ts";

const { deps, add } = engineHarness();

test("of groups that take turns, jobs in somebody's transaction are neither signalled nor keep others from being claimed", async () => {
  await setLimits(deps, main, queueLimits.parse({ group_concurrency: 2, fair_by: "group" }));
  const [locked, alone, first, second] = await add({ group: "g" }, {}, { group: "g" }, { group: "h" });
  await deps.database.sql`UPDATE atlasqueue.jobs SET updated_at = updated_at - interval '10 seconds'`;
  const offer = createOfferInTurns(deps);
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id IN (${locked ?? ""}, ${alone ?? ""}) FOR UPDATE`;
    await offer(main);
    expect((await deps.signal.take([main], 10)).toSorted()).toEqual([first, second]);
    expect((await claimReady(deps, 2, claimer)).map(({ id }) => id)).toEqual([first, second]);
  });
  await offer(main);
  expect((await deps.signal.take([main], 10)).toSorted()).toEqual([locked, alone]);
});
