import { brokenConnection, steppingDatabase } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { addFlow } from "../../test/add-flow.ts";
import { spawnHarness } from "../../test/spawn-harness.ts";
import { cancel } from "../jobs/cancel.ts";

const { add, advance, child, countsAreTrue, deps, edges, jobs, spawn, spawned, status, take } = spawnHarness();

test("the same again, one after the other or ten at once, is answered alike and adds its children once", async () => {
  const { a, sum } = await addFlow(deps, { a: {}, sum: { after: ["a"] } });
  const lease = await take(a);
  const once = () => spawn(lease, [child(), child()], { dependants_wait: true });
  const outcomes = await Promise.all(Array.from({ length: 10 }, once));
  const settled = [...outcomes.filter(({ kind }) => kind !== "locked"), await once()];
  for (const outcome of settled) expect(outcome).toMatchObject({ kind: "applied", has_children: true });
  expect(settled.filter((one) => one.kind === "applied" && one.children.length > 0)).toHaveLength(1);
  expect(await jobs()).toBe(4);
  await advance();
  expect((await edges()).map(([, of]) => of)).toEqual([sum, sum]);
  await countsAreTrue();
});

test("wherever its connection breaks, all of it is stored or nothing, and the same again completes it", async () => {
  for (let broken_at = 1, steps = Infinity; broken_at <= steps; broken_at += 1) {
    const group = `g${broken_at}`;
    const { a, sum } = await addFlow(deps, { a: { group }, sum: { after: ["a"] } });
    const before = await jobs();
    const lease = await take(a);
    let broken = false;
    const database = steppingDatabase(deps.database, (_step, number) => {
      if (number !== broken_at) return;
      broken = true;
      throw brokenConnection();
    });
    const children = [child({ ref: "x" }), child({}, { group })];
    await spawn(lease, children, { dependants_wait: true, database }).catch(() => {});
    expect([before, before + 2]).toContain(await jobs());
    expect(await status(a)).toBe((await jobs()) === before ? "running" : "succeeded");
    expect(await spawn(lease, children, { dependants_wait: true })).toMatchObject({ kind: "applied" });
    expect([await status(a), await jobs()]).toEqual(["succeeded", before + 2]);
    expect((await edges()).filter(([, of]) => of === sum)).toHaveLength(3);
    if (!broken) {
      expect(broken_at).toBeGreaterThan(8);
      steps = broken_at;
    }
  }
  await countsAreTrue();
});

test("a child that is refused takes all with it, and the job still runs under its lease", async () => {
  const held = await add({ unique: { key: "k", scope: "active", on_conflict: "reject" } });
  const lease = await take(await add());
  const before = await jobs();
  const unique = { key: "k", scope: "active", on_conflict: "reject" } as const;
  expect(await spawn(lease, [child(), child({}, { unique })])).toEqual({
    kind: "refused",
    refusal: { kind: "conflict", places: [{ at: 1, job_id: held }] },
  });
  const nobody = "01920000-0000-7000-8000-000000000000";
  expect(await spawn(lease, [child({ depends_on: [nobody] })])).toEqual({
    kind: "refused",
    refusal: { kind: "unknown_parents", places: [{ at: 0, nth: 0, id: nobody }] },
  });
  expect([await jobs(), await status(lease.id)]).toEqual([before, "running"]);
  expect(await deps.database.sql`SELECT FROM atlasqueue.flow_jobs`).toHaveLength(0);
  await countsAreTrue();
  await cancel(deps, "default", held);
  expect(await spawned(lease, [child({}, { unique })])).toHaveLength(1);
});

test("dependants that would wait for too many are refused", async () => {
  const refs = Array.from({ length: 101 }, (_, at) => `s${at}`);
  const { a = "" } = await addFlow<string>(deps, {
    a: {},
    ...Object.fromEntries(refs.map((ref) => [ref, { after: ["a"] }])),
  });
  const lease = await take(a);
  const children = Array.from({ length: 100 }, () => child());
  expect(await spawn(lease, children, { dependants_wait: true })).toEqual({
    kind: "refused",
    refusal: { kind: "too_many_waits", dependants: 101 },
  });
  expect(await spawned(lease, children.slice(1), { dependants_wait: true })).toHaveLength(99);
  expect(await edges()).toHaveLength(100 * 101);
});

test("a row that a stranger has locked is reported as locked, and nothing is stored", async () => {
  const { a, sum } = await addFlow(deps, { a: {}, sum: { after: ["a"] } });
  const lease = await take(a);
  for (const row of [a, sum])
    await deps.database.sql.begin(async (tx) => {
      await tx`SELECT FROM atlasqueue.jobs WHERE id = ${row} FOR UPDATE`;
      expect(await spawn(lease, [child()], { dependants_wait: true })).toEqual({ kind: "locked" });
    });
  expect([await jobs(), await status(a)]).toEqual([2, "running"]);
});
