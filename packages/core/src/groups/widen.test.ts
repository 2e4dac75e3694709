import { expect, test } from "vitest";
import { markWidened } from "../../test/advance.ts";
import { engineHarness } from "../../test/engine-harness.ts";
import { drainPage, type Handlers } from "../outbox/drain-page.ts";
import { widenGroups } from "./overdue.ts";

const { deps, add, limit } = engineHarness();
const widen = (queue: string, group_concurrency: number) => limit({ group_concurrency }, queue);
const handlers: Handlers = {
  groups_widened: { version: 1, handle: (execute, rows) => widenGroups(execute, rows, async () => {}) },
};
const left = () => deps.database.sql<{ payload: unknown }[]>`SELECT payload FROM atlasqueue.outbox ORDER BY id`;
const overdue = async () => {
  const rows = await deps.database.sql<{ queue: string; groups: number }[]>`
    SELECT queue, count(*)::int AS groups FROM atlasqueue.job_groups WHERE overdue_at IS NOT NULL GROUP BY queue ORDER BY queue`;
  return Object.fromEntries(rows.map(({ queue, groups }) => [queue, groups]));
};

test("a queue's groups are looked at a page at a time, and those of the tenant's other queues afterwards", async () => {
  const groups = Array.from({ length: 600 }, (_, at) => ({ queue: "a", group: `g${at}` }));
  await add(...groups, ...groups.slice(0, 550), { queue: "b", group: "g" }, { queue: "b", group: "g" });
  await widen("a", 2);
  await widen("b", 2);
  await drainPage(deps, handlers, 500);
  expect((await overdue()).a).toBeLessThanOrEqual(500);
  expect(await left()).toMatchObject([
    { payload: { queue: "a", after: expect.any(String) } },
    { payload: { queue: "b" } },
  ]);
  // It begins anew once it has come to the end, as the second may have been meant for groups that were passed.
  await widen("a", 3);
  await drainPage(deps, handlers, 500);
  expect([await overdue(), (await left()).length]).toEqual([{ a: 550 }, 2]);
  await markWidened(deps);
  expect([await overdue(), await left()]).toEqual([{ a: 550, b: 1 }, []]);
});

test("of several that wait for the same queue, one is enough, and a lower number is none", async () => {
  for (const number of [2, 3, 4, 1]) await widen("a", number);
  expect(await left()).toHaveLength(3);
  await drainPage(deps, handlers, 500);
  expect(await left()).toEqual([]);
});
