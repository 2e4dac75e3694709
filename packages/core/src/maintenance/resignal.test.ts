import { expect, test } from "vitest";
import { engineHarness, main } from "../../test/engine-harness.ts";
import { uuidArray } from "../database/literals.ts";
import { resignalOrphans } from "./resignal.ts";

// Jobs that are not signalled, while somebody's open transaction has some of them locked: a claim could not have these.

const { deps, add, addMany } = engineHarness();

const age = (seconds: number) => deps.database.sql`
  UPDATE atlasqueue.jobs SET ready_at = ready_at - ${seconds} * interval '1 second', updated_at = updated_at - ${seconds} * interval '1 second'`;
const signalled = () => deps.signal.take([main], 10_000);

/** Signalled by a look beside the stranger, and by one after its end. */
async function looks(locked: readonly string[], listed?: string): Promise<[string[], string[]]> {
  const inBusyList = () => (listed ? deps.signal.push([{ ...main, id: listed, priority: 0 }]) : undefined);
  const beside = await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id = ANY(${uuidArray(locked)}::text::uuid[]) FOR UPDATE`;
    await inBusyList();
    await resignalOrphans(deps, main);
    return signalled();
  });
  await inBusyList();
  await resignalOrphans(deps, main);
  return [beside, await signalled()];
}

test("those in somebody's transaction are signalled once it is over, the others at once", async () => {
  const [urgent = "", first = "", second = "", third = "", late = ""] = await add(
    { priority: 5 },
    {},
    {},
    {},
    { priority: -5 },
  );
  await age(10);
  const all = [urgent, first, second, third, late];
  expect(await looks([urgent, second])).toEqual([[first, third, late], all]);
});

test("and so it is while the list is busy", async () => {
  const [urgent = "", first = "", second = "", late = ""] = await add({ priority: 5 }, {}, {}, { priority: -5 });
  await age(10);
  const [next = ""] = await add({});
  expect(await looks([urgent, first, late], next)).toEqual([
    [second, next],
    [urgent, first, second, next, late],
  ]);
});

test("one that can be claimed is found behind any number that cannot", async () => {
  const locked = await addMany(1_500);
  const [free = ""] = await add({});
  await age(10);
  const [next = ""] = await add({});
  expect((await looks(locked, next))[0]).toEqual([free, next]);
});

test("a look locks nothing that nobody has had locked", async () => {
  await addMany(10);
  await age(10);
  expect(await resignalOrphans(deps, main)).toBe(10);
  expect(await deps.database.sql`SELECT FROM atlasqueue.jobs WHERE xmax <> '0'`).toEqual([]);
});
