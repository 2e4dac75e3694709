import { firstId } from "../ids.ts";
import { jobStatuses } from "@atlasqueue/contract";
import { inTime } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { claimer, engineHarness } from "../../test/engine-harness.ts";
import { addFlow, type Member } from "../../test/add-flow.ts";
import { advanceAndAdmit } from "../../test/advance.ts";
import { cancel } from "../jobs/cancel.ts";
import { claim } from "../lease/claim.ts";
import { clearResults } from "../maintenance/clear-results.ts";
import { complete } from "../settle/settle.ts";
import { parentsOf, parentsPage } from "./parents.ts";

const { deps } = engineHarness();

const succeed = async (results: Record<string, string | number>): Promise<void> => {
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

const inFlow = (id: string) => ({ id, flow_id: id });
const none = Object.fromEntries(jobStatuses.map((status) => [status, 0]));

test("a job is given the results of those it waited for, by ref, and how many ended in which way", async () => {
  const { a, b, c, sum } = await addFlow(deps, {
    a: {},
    b: {},
    c: {},
    sum: { after: ["b", "a", "c"], on_parent_failure: "run" },
  });
  await succeed({ [a]: 1 });
  await cancel(deps, "default", b);
  expect(await parentsOf(deps, "default", [sum, a].map(inFlow))).toEqual(
    new Map([
      [
        sum,
        {
          parents: {
            b: { id: b, status: "cancelled", result: null },
            a: { id: a, status: "succeeded", result: 1 },
            c: { id: c, status: "queued", result: null },
          },
          parent_counts: { ...none, succeeded: 1, cancelled: 1, queued: 1 },
          parents_complete: true,
        },
      ],
    ]),
  );
  expect(await parentsOf(deps, "acme", [inFlow(sum)])).toEqual(new Map());
  expect((await parentsPage(deps, "acme", sum, 0, 10)).items).toEqual([]);
});

test("of many parents the first hundred are given, and the rest in pages", async () => {
  const { sum, parents } = await fanIn(250);
  const found = (await parentsOf(deps, "default", [inFlow(sum)])).get(sum);
  expect(Object.keys(found?.parents ?? {})).toHaveLength(100);
  expect(found).toMatchObject({ parents_complete: false, parent_counts: { queued: 250 } });
  const seen: string[] = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const page = await parentsPage(deps, "default", sum, after, 100);
    seen.push(...page.items.map(({ ref }) => ref));
    after = page.next;
  }
  expect(seen).toEqual(Object.keys(parents));
});

test("no more results are given once there are 256 KiB, however many parents there are", async () => {
  const { sum, parents } = await fanIn(10);
  await succeed(Object.fromEntries(Object.values(parents).map((id) => [id, "x".repeat(100_000)])));
  const found = (await parentsOf(deps, "default", [inFlow(sum)])).get(sum);
  expect(Object.keys(found?.parents ?? {})).toEqual(["p0", "p1", "p2"]);
  expect(found?.parents_complete).toBe(false);
});

test("a page of parents ends once there is 1 MiB of results, and goes on there", async () => {
  const { sum, parents } = await fanIn(20);
  await succeed(Object.fromEntries(Object.values(parents).map((id) => [id, "x".repeat(200_000)])));
  const { items, next } = await parentsPage(deps, "default", sum, 3, 100);
  expect(items.map(({ ref }) => ref)).toEqual(["p3", "p4", "p5", "p6", "p7", "p8"]);
  expect(next).toBe(9);
});

test.each([
  { count: 999, bytes: 61_440 },
  { count: 9_000, bytes: 40 },
])("$count parents with results of $bytes bytes are read in 3 s", { tags: ["slow"] }, async ({ count, bytes }) => {
  const { sum } = await fanIn(count);
  // Compressed to a third: of such a result the size is known only once it is read.
  await deps.database.sql`
    UPDATE atlasqueue.jobs SET result = to_json((
      SELECT string_agg(md5(n::text || jobs.id) || repeat('x', 64), '') FROM generate_series(1, ${bytes}::int / 96 + 1) AS n))
    WHERE id <> ${sum}`;
  await inTime(3_000, async () => {
    const began = performance.now();
    let seen = 0;
    for (let after: number | undefined = 0; after !== undefined;) {
      const page: Awaited<ReturnType<typeof parentsPage>> = await parentsPage(deps, "default", sum, after, 1_000);
      seen += page.items.length;
      after = page.next;
    }
    expect(seen).toBe(count);
    return performance.now() - began;
  });
});

test.each([
  { policy: "cancel", says: { result_gone: true } },
  { policy: "run", says: {} },
] as const)("a parent that was removed since has no status and no result: $policy", async ({ policy, says }) => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"], on_parent_failure: policy } });
  await deps.database.sql`DELETE FROM atlasqueue.jobs WHERE id = ${a}`;
  expect((await parentsOf(deps, "default", [inFlow(b)])).get(b)).toEqual({
    parents: { a: { id: a, status: null, result: null, ...says } },
    parent_counts: none,
    parents_complete: true,
  });
});

test("a parent from before whose result was cleared while its child waited for another says so", async () => {
  const { before, silent } = await addFlow(deps, { before: {}, silent: {} });
  const { q, child } = await addFlow(deps, { q: {}, child: { after: [before, silent, "q"] } });
  await succeed({ [before]: 42 });
  const [lease] = await claim(deps, [silent], claimer);
  if (lease) await complete(deps, [{ lease, result: null }]);
  await advanceAndAdmit(deps);
  expect((await clearResults(deps, 0, firstId, child, 100)).jobs).toBe(1);
  await succeed({ [q]: 1 });
  await advanceAndAdmit(deps);
  const parents = {
    [before]: { id: before, status: "succeeded", result: null, result_gone: true },
    [silent]: { id: silent, status: "succeeded", result: null },
    q: { id: q, status: "succeeded", result: 1 },
  };
  expect((await parentsOf(deps, "default", [inFlow(child)])).get(child)?.parents).toEqual(parents);
  expect((await parentsPage(deps, "default", child, 0, 10)).items).toEqual(
    Object.entries(parents).map(([ref, parent]) => ({ ref, ...parent })),
  );
  // Once is enough.
  expect((await clearResults(deps, 0, firstId, child, 100)).jobs).toBe(0);
});

test("many jobs together are given no more than 1 MiB of results, and all of their counts", async () => {
  const children = Array.from({ length: 30 }, (_, at) => `c${at}`);
  const members = Object.fromEntries(children.map((ref) => [ref, { after: ["a"] }]));
  const { a, ...ids } = await addFlow(deps, { a: {}, ...members });
  await succeed({ [a]: "x".repeat(262_000) });
  const found = [...(await parentsOf(deps, "default", Object.values<string>(ids).map(inFlow))).values()];
  expect(found).toHaveLength(30);
  expect(found.filter(({ parents_complete }) => parents_complete)).toHaveLength(5);
  expect(JSON.stringify(found).length).toBeLessThan(5.1 * 262_144);
  for (const { parent_counts } of found) expect(parent_counts).toEqual({ ...none, succeeded: 1 });
});

test("nothing is asked of the database for jobs that are in no flow", async () => {
  const unused = { database: undefined as never };
  expect(await parentsOf(unused, "default", [{ id: "any", flow_id: null }])).toEqual(new Map());
});
