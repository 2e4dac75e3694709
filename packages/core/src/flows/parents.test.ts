import { recordEvents, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addFlow, type Member } from "../../test/add-flow.ts";
import type { Deps } from "../deps.ts";
import { cancel } from "../jobs/cancel.ts";
import { claim } from "../lease/claim.ts";
import { complete } from "../settle/complete.ts";
import { parentsOf, parentsPage } from "./parents.ts";

let own: TestDatabase;
let deps: Deps;
beforeAll(async () => {
  own = await testDatabase();
  deps = { database: own.database, observe: recordEvents().observe };
});
afterAll(() => own.drop());

const succeed = async (results: Record<string, string | number>): Promise<void> => {
  const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 30 };
  const leases = await claim(deps, Object.keys(results), claimer);
  await complete(
    deps,
    leases.map((lease) => ({ lease, result: results[lease.id] ?? null })),
  );
};
const fanIn = async (count: number) => {
  const roots: Record<string, Member> = Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, {}]));
  const members: Record<string, Member> = { ...roots, sum: { after: Object.keys(roots) } };
  const { sum = "", ...parents } = await addFlow(deps, members);
  return { sum, parents };
};

test("a job is given the results of those it waited for, by ref, and how many ended in which way", async () => {
  const { a, b, c, sum } = await addFlow(deps, {
    a: {},
    b: {},
    c: {},
    sum: { after: ["b", "a", "c"], on_parent_failure: "run" },
  });
  await succeed({ [a]: 1 });
  await cancel(deps, "default", b);
  expect(await parentsOf(deps, "default", [sum, a])).toEqual(
    new Map([
      [
        sum,
        {
          parents: {
            b: { id: b, status: "cancelled", result: null },
            a: { id: a, status: "succeeded", result: 1 },
            c: { id: c, status: "queued", result: null },
          },
          parent_counts: { succeeded: 1, cancelled: 1, queued: 1 },
          parents_complete: true,
        },
      ],
    ]),
  );
  expect(await parentsOf(deps, "acme", [sum])).toEqual(new Map());
  expect((await parentsPage(deps, "acme", sum, 0, 10)).parents).toEqual([]);
});

test("of many parents the first hundred are given, and the rest in pages", async () => {
  const { sum, parents } = await fanIn(250);
  const found = (await parentsOf(deps, "default", [sum])).get(sum);
  expect(Object.keys(found?.parents ?? {})).toHaveLength(100);
  expect(found).toMatchObject({ parents_complete: false, parent_counts: { queued: 250 } });
  const seen: string[] = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const page = await parentsPage(deps, "default", sum, after, 100);
    seen.push(...page.parents.map(({ ref }) => ref));
    after = page.next;
  }
  expect(seen).toEqual(Object.keys(parents));
});

test("no more results are given once there are 256 KiB, however many parents there are", async () => {
  const { sum, parents } = await fanIn(10);
  await succeed(Object.fromEntries(Object.values(parents).map((id) => [id, "x".repeat(100_000)])));
  const found = (await parentsOf(deps, "default", [sum])).get(sum);
  expect(Object.keys(found?.parents ?? {})).toEqual(["p0", "p1", "p2"]);
  expect(found?.parents_complete).toBe(false);
  const { parents: rest, next } = await parentsPage(deps, "default", sum, 3, 100);
  expect(rest.map(({ ref }) => ref)).toEqual(["p3", "p4", "p5"]);
  expect(next).toBe(6);
});

test("a parent that was removed since has no status and no result", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  await own.database.sql`DELETE FROM jobs WHERE id = ${a}`;
  expect((await parentsOf(deps, "default", [b])).get(b)).toEqual({
    parents: { a: { id: a, status: null, result: null } },
    parent_counts: {},
    parents_complete: true,
  });
});
