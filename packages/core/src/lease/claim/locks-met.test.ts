import { queueLimits } from "@atlasqueue/contract";
import { steppingDatabase } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { claimer, engineHarness, tenant } from "../../../test/engine-harness.ts";
import { setLimits } from "../../limits/set.ts";
import { claim, claimReady } from "../claim.ts";
import type { Claimer, Lease } from "../lease.ts";
import { createLocksMet } from "./locks-met.ts";

const { deps, add, addMany } = engineHarness();
const limit = (queue: string) => setLimits(deps, { tenant, queue }, queueLimits.parse({ concurrency: 5 }));

/** What claims of one process leased, and how many of their transactions waited for a lock in vain. */
function claiming() {
  let now = 0;
  let begun = 0;
  let committed = 0;
  const database = steppingDatabase(deps.database, (step, _number, _text, sent) => {
    if (step === "statement" && sent.length === 1) begun += 1;
    if (step === "commit") committed += 1;
  });
  const serving: Claimer = { ...claimer, locks: createLocksMet(() => now) };
  const told = async (claims: (own: typeof deps) => Promise<Lease[]>) => {
    [begun, committed] = [0, 0];
    const ids = (await claims({ ...deps, database })).map(({ id }) => id);
    return { ids, waited: begun - committed };
  };
  return {
    pass: (ms: number) => void (now += ms),
    byIds: (...ids: string[]) => told((own) => claim(own, ids, serving)),
    oldest: () => told((own) => claimReady(own, 10, serving)),
  };
}

/** While somebody's transaction has locked what it selects. */
async function besideStranger(select: string, work: () => Promise<void>): Promise<void> {
  await deps.database.sql.begin(async (stranger) => {
    await stranger.unsafe(`${select} FOR UPDATE`);
    await work();
  });
}

test("after a claim has met a locked job, those of its tenant wait for none, until five seconds later", async () => {
  const [locked = "", first = "", second = "", third = ""] = await addMany(4);
  const { byIds, pass } = claiming();
  await besideStranger(`SELECT FROM atlasqueue.jobs WHERE id = '${locked}'`, async () => {
    expect(await byIds(locked, first)).toEqual({ ids: [first], waited: 1 });
    pass(4_999);
    expect(await byIds(locked, second)).toEqual({ ids: [second], waited: 0 });
    pass(1);
    expect(await byIds(locked, third)).toEqual({ ids: [third], waited: 1 });
  });
  expect(await byIds(locked)).toEqual({ ids: [locked], waited: 0 });
});

const ofQueue = (queue: string) => `SELECT FROM atlasqueue.queues WHERE queue = '${queue}'`;

test("the transaction that holds a limited queue's row is waited for once, and another one again", async () => {
  await limit("default");
  const ids = await addMany(3);
  const { byIds, oldest } = claiming();
  await besideStranger(ofQueue("default"), async () => {
    expect(await byIds(...ids)).toEqual({ ids: [], waited: 1 });
    expect(await byIds(...ids)).toEqual({ ids: [], waited: 0 });
    expect(await oldest()).toEqual({ ids: [], waited: 0 });
  });
  expect(await byIds(ids[0] ?? "")).toEqual({ ids: ids.slice(0, 1), waited: 0 });
  await besideStranger(ofQueue("default"), async () => expect(await oldest()).toEqual({ ids: [], waited: 1 }));
  expect(await oldest()).toEqual({ ids: ids.slice(1), waited: 0 });
});

test("beside a queue whose row somebody holds, one that another transaction has is waited for", async () => {
  for (const queue of ["default", "free"]) await limit(queue);
  const [held = "", busy = ""] = await add({}, { queue: "free" });
  const { byIds } = claiming();
  await besideStranger(ofQueue("default"), async () => {
    expect(await byIds(held)).toEqual({ ids: [], waited: 1 });
    await besideStranger(ofQueue("free"), async () => expect(await byIds(held, busy)).toEqual({ ids: [], waited: 1 }));
    expect(await byIds(held, busy)).toEqual({ ids: [busy], waited: 0 });
  });
});
