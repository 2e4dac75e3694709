import { steppingDatabase } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { addFlow } from "../../../test/add-flow.ts";
import { spawnHarness } from "../../../test/spawn-harness.ts";

const { add, advance, child, deps, edges, finish, spawn, spawned, status, take } = spawnHarness();

const adding = { dependants_wait: true };

test("a child that waits for a dependant that is to wait for it is refused, and nothing is stored", async () => {
  const { s, d } = await addFlow(deps, { s: {}, d: { after: ["s"] } });
  const lease = await take(s);
  const before = await edges();
  expect(await spawn(lease, [child(), child({ depends_on: [d] })], adding)).toEqual({
    kind: "refused",
    refusal: { kind: "circle", dependant: d },
  });
  expect([await status(s), await edges()]).toEqual(["running", before]);
  await spawned(lease, [child({ depends_on: [d] })]);
});

test("so is one that waits for it over others, and over another child", async () => {
  const { s, d } = await addFlow(deps, { s: {}, d: { after: ["s"] } });
  const { last } = await addFlow(deps, { next: { after: [d] }, last: { after: ["next"] } });
  const children = [child({ ref: "a", depends_on: [last] }), child({ depends_on: ["a"] })];
  expect(await spawn(await take(s), children, adding)).toMatchObject({ refusal: { kind: "circle", dependant: d } });
});

test("a child may wait for what no dependant is waited for by, and all run in their order", async () => {
  const { s, d } = await addFlow(deps, { s: {}, d: { after: ["s"] } });
  const other = await add();
  const { beside } = await addFlow(deps, { beside: { after: [s, other] } });
  const [c = ""] = await spawned(await take(s), [child({ depends_on: [other] })], adding);
  await advance();
  for (const id of [other, c]) {
    expect([await status(d), await status(beside)]).toEqual(["blocked", "blocked"]);
    await finish(id);
    await advance();
  }
  expect([await status(d), await status(beside)]).toEqual(["queued", "queued"]);
});

test("two that add at once do not close a circle together", async () => {
  const { s1, d1 } = await addFlow(deps, { s1: {}, d1: { after: ["s1"] } });
  const { s2, d2 } = await addFlow(deps, { s2: {}, d2: { after: ["s2"] } });
  const { x1, x2 } = await addFlow(deps, { x1: { after: [d1] }, x2: { after: [d2] } });
  const [first, second] = [await take(s1), await take(s2)];
  let other: Promise<{ kind: string }> | undefined;
  const database = steppingDatabase(deps.database, async (step, _number, text) => {
    // The first one has looked, and nothing of its own is there to be seen.
    if (step !== "statement" || other || !text.includes("INSERT INTO atlasqueue.flow_edges")) return;
    other = spawn(second, [child({ depends_on: [x1] })], adding);
    await other;
  });
  expect(await spawn(first, [child({ depends_on: [x2] })], { ...adding, database })).toMatchObject({ kind: "applied" });
  expect(await other).toEqual({ kind: "locked" });
  expect(await spawn(second, [child({ depends_on: [x1] })], adding)).toMatchObject({ refusal: { kind: "circle" } });
});
