import { expect, test } from "vitest";
import { addFlow } from "../../test/add-flow.ts";
import { spawnHarness } from "../../test/spawn-harness.ts";
import { parentsOf } from "../flows/parents.ts";
import { viewFlow } from "../flows/show-flow.ts";
import type { Lease } from "../lease/lease.ts";

const { add, advance, child, countsAreTrue, deps, edges, read, spawn, spawned, status, finish, take } = spawnHarness();

test("a job that was in no flow begins one, with its children behind it, and they are told its result", async () => {
  const lease = await take(await add());
  const [a, b] = await spawned(lease, [child({ ref: "a" }), child({ depends_on: ["a"] })]);
  if (!a || !b) throw new Error("no children");
  expect([await status(lease.id), await status(a), await status(b)]).toEqual(["succeeded", "queued", "blocked"]);
  const flow_id = (await read(lease.id))?.flow_id ?? "";
  expect([(await read(a))?.flow_id, (await read(b))?.flow_id]).toEqual([flow_id, flow_id]);
  const view = await viewFlow(deps, "default", flow_id);
  expect(view?.items.map(({ id, ref, depends_on }) => ({ id, ref, depends_on }))).toEqual([
    { id: lease.id, ref: null, depends_on: [] },
    { id: a, ref: "a", depends_on: [lease.id] },
    { id: b, ref: null, depends_on: [lease.id, a] },
  ]);
  const told = await parentsOf(deps, "default", [{ id: b, flow_id }]);
  expect(Object.entries(told.get(b)?.parents ?? {})).toEqual([
    [lease.id, { id: lease.id, status: "succeeded", result: { from: lease.id } }],
    ["a", { id: a, status: "queued", result: null }],
  ]);
  expect(await edges()).toEqual([[a, b, "cancel"]]);
  await finish(a);
  await advance();
  expect(await status(b)).toBe("queued");
  await countsAreTrue();
});

test("the children of a job in a flow join it, behind those that are there, and two who add at once do not get the same places", async () => {
  const ids = Object.values(await addFlow(deps, { a: {}, b: {}, c: {}, sum: { after: ["a", "b", "c"] } }));
  const leases = await Promise.all(ids.slice(0, 3).map(take));
  await Promise.all(leases.map((lease) => spawned(lease, [child(), child()])));
  const view = await viewFlow(deps, "default", (await read(ids[0] ?? ""))?.flow_id ?? "");
  expect(view?.items).toHaveLength(10);
  expect(view?.items.slice(0, 4).map(({ id }) => id)).toEqual(ids);
  const places = await deps.database.sql`SELECT place FROM atlasqueue.flow_jobs ORDER BY place`;
  expect(places.map(({ place }) => place as number)).toEqual(Array.from({ length: 10 }, (_, at) => at));
});

test("those that wait for the job do not wait for its children unless it says so", async () => {
  const { a, sum } = await addFlow(deps, { a: {}, sum: { after: ["a"] } });
  await spawned(await take(a), [child()]);
  await advance();
  expect(await status(sum)).toBe("queued");
});

test("fifty that add at once to one fan-in are all waited for", async () => {
  const refs = Array.from({ length: 50 }, (_, at) => `p${at}`);
  const members = Object.fromEntries(refs.map((ref) => [ref, {}]));
  const { sum = "", ...parents } = await addFlow<string>(deps, { ...members, sum: { after: refs } });
  const leases = await Promise.all(Object.values(parents).map(take));
  const added: string[] = [];
  const until = async (lease: Lease): Promise<void> => {
    const outcome = await spawn(lease, [child()], { dependants_wait: true });
    if (outcome.kind === "locked") return until(lease);
    if (outcome.kind !== "applied") throw new Error(outcome.kind);
    added.push(...outcome.children.flatMap((one) => ("job" in one ? one.job.id : [])));
  };
  await Promise.all([...leases.map(until), advance(), advance()]);
  await advance();
  expect((await edges()).map(([parent]) => parent).toSorted()).toEqual(added.toSorted());
  for (const id of added.slice(1)) await finish(id);
  await advance();
  expect(await status(sum)).toBe("blocked");
  await finish(added[0] ?? "");
  await advance();
  expect(await status(sum)).toBe("queued");
  await countsAreTrue();
});

test("a child may wait for jobs that exist, and naming the job that adds it changes nothing", async () => {
  const other = await add();
  const lease = await take(await add());
  const [waits = "", free = ""] = await spawned(lease, [
    child({ depends_on: [other, lease.id] }),
    child({ depends_on: [lease.id] }),
  ]);
  expect([await status(waits), await status(free)]).toEqual(["blocked", "queued"]);
  await advance();
  await finish(other);
  await advance();
  expect(await status(waits)).toBe("queued");
});

test("children in the group of the job have their turn when it is settled, in their order", async () => {
  const lease = await take(await add({ group: "g" }));
  const [first = "", second = ""] = await spawned(lease, [child({}, { group: "g" }), child({}, { group: "g" })]);
  expect([await status(first), await status(second)]).toEqual(["queued", "blocked"]);
  await countsAreTrue();
});
