import { expect, test } from "vitest";
import { claimer, engineHarness } from "../../test/engine-harness.ts";
import { claim, claimReady } from "../lease/claim.ts";
import { complete } from "../settle/settle.ts";

const { deps, limit, addMany } = engineHarness();

/** Start one job after the other, as a worker with one slot would; their ids. */
async function one(count: number): Promise<string[]> {
  const ran: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const [lease] = await claimReady(deps, 1, claimer);
    if (!lease) break;
    ran.push(lease.id);
    await complete(deps, [{ lease, result: null }]);
  }
  return ran;
}

test("with one slot, a group of one job does not wait for a group of a hundred", async () => {
  await limit({ fair_by: "group", group_concurrency: 100 });
  const many = await addMany(100, { group: "many" });
  expect(await one(2)).toEqual(many.slice(0, 2));
  const [few] = await addMany(1, { group: "few" });
  expect((await one(2)).toSorted()).toEqual([few, many[2]].toSorted());
});

test("groups that come and go with one job each do not keep a group with many waiting", async () => {
  await limit({ fair_by: "group", group_concurrency: 100 });
  const many = await addMany(10, { group: "many" });
  const ran: string[] = [];
  for (let at = 0; at < 6; at += 1) {
    await addMany(1, { group: "a" });
    await addMany(1, { group: "b" });
    ran.push(...(await one(3)));
  }
  expect(ran.filter((id) => many.includes(id)).length).toBeGreaterThanOrEqual(5);
});

test("jobs without a group are one group, and one claim takes one of each first", async () => {
  await limit({ fair_by: "group", group_concurrency: 100 });
  const alone = await addMany(50);
  const [a] = await addMany(1, { group: "a" });
  const [b] = await addMany(1, { group: "b" });
  const ids = (await claimReady(deps, 4, claimer)).map(({ id }) => id);
  expect(ids.toSorted()).toEqual([alone[0], alone[1], a, b].toSorted());
});

test("a group behind a thousand ready jobs of another is found by its row", async () => {
  await limit({ fair_by: "group", group_concurrency: 2_000 });
  await addMany(1_200, { group: "many" });
  const [few] = await addMany(1, { group: "few" });
  expect((await claimReady(deps, 2, claimer)).map(({ id }) => id)).toContain(few);
});

test("a claim by a mark takes as many as there is room for, and gives the mark back when it got all it asked for", async () => {
  await limit({ concurrency: 5 });
  const ids = await addMany(7);
  const back: string[] = [];
  const own = {
    ...claimer,
    put_back: (jobs: readonly { id: string }[]) => void back.push(...jobs.map(({ id }) => id)),
  };
  expect((await claim(deps, [ids[6] ?? ""], { ...own, more_room: () => 2 })).map(({ id }) => id)).toEqual(
    ids.slice(0, 3),
  );
  expect(back).toHaveLength(1);
  expect((await claim(deps, back, { ...own, more_room: () => 2 })).map(({ id }) => id)).toEqual(ids.slice(3, 5));
  expect(await claim(deps, back, { ...own, more_room: () => 2 })).toEqual([]);
  expect(back).toHaveLength(1);
});
