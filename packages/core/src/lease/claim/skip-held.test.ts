import { expect, test } from "vitest";
import { claimer, engineHarness, main } from "../../../test/engine-harness.ts";
import { uuidArray } from "../../database/literals.ts";
import { claim } from "../claim.ts";
import { createSkipHeld } from "./skip-held.ts";

const { deps, add, addMany } = engineHarness();

const push = (ids: readonly string[]) => deps.signal.push(ids.map((id) => ({ ...main, id, priority: 0 })));
const listed = () => deps.signal.peek(main, 1_000);

async function besideStranger(ids: readonly string[], work: () => Promise<void>): Promise<void> {
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id = ANY(${uuidArray(ids)}::text::uuid[]) FOR UPDATE`;
    await work();
  });
}

/** Claim the next five of the list, as a worker does. */
async function claimNext(): Promise<string[]> {
  const skipHeld = createSkipHeld(deps);
  const skipping: Promise<void>[] = [];
  const passed_over = (tenant: string, ids: readonly string[]) => void skipping.push(skipHeld(tenant, ids));
  const leases = await claim(deps, await deps.signal.take([main], 5), { ...claimer, passed_over });
  await Promise.all(skipping);
  return leases.map(({ id }) => id);
}

test("once a claim has met locked jobs, a thousand behind them leave the front of the list at once", async () => {
  const locked = await addMany(1_500);
  const free = await addMany(3);
  await push([...locked, ...free]);
  await besideStranger(locked, async () => {
    expect(await claimNext()).toEqual([]);
    expect(await listed()).toEqual([...locked.slice(1_004), ...free]);
    expect(await claimNext()).toEqual([]);
    expect(await claimNext()).toEqual(free);
  });
});

test("it is the first one that can be claimed that comes next, and nothing behind it is dropped", async () => {
  const ids = await addMany(20);
  await push(ids);
  await besideStranger([...ids.slice(0, 8), ...ids.slice(9, 11)], async () => {
    await claimNext();
    expect(await listed()).toEqual(ids.slice(8));
  });
});

test("only lists of queues with locked jobs are looked at, and one look of a tenant goes on at a time", async () => {
  const [gone = "", other = ""] = await add({}, {});
  const ids = await addMany(3);
  await push(ids);
  const skipHeld = createSkipHeld(deps);
  await claim(deps, [gone], claimer);
  await skipHeld(main.tenant, [gone, other]);
  expect(await listed()).toEqual(ids);
  await besideStranger([other, ...ids.slice(0, 2)], async () => {
    await Promise.all([skipHeld(main.tenant, [other]), skipHeld(main.tenant, [other])]);
    expect(await listed()).toEqual(ids.slice(2));
  });
});
