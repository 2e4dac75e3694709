import { steppingDatabase } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { claimer, engineHarness } from "../../../test/engine-harness.ts";
import { claim, claimReady } from "../claim.ts";
import type { Claimer, Lease } from "../lease.ts";
import { createLocksMet } from "./locks-met.ts";

const { deps, addMany } = engineHarness();

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
