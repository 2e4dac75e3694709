import { queueLimits } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { refillQueue } from "./refill.ts";
import { setLimits } from "./set.ts";
import { createStock } from "./stock.ts";
import { front_jobs_max, near_jobs_max } from "./within-rates.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { engineHarness, main } from "../../test/engine-harness.ts";

const { deps, addMany, addUsedUp, finish, take } = engineHarness();

const signalled = (ids: readonly string[]): ReadyJob[] => ids.map((id) => ({ ...main, id, priority: 0 }));
const length = async () => (await deps.signal.look(main)).length;
const refill = () => refillQueue(deps, main, "near");

test("a list does not grow by jobs that were on their way to a claim when their queue was refilled", async () => {
  await setLimits(deps, main, queueLimits.parse({ concurrency: 1_000 }));
  const ids = await addMany(600);
  await deps.signal.push(signalled(ids));
  for (let at = 0; at < 50; at += 5) {
    const taken = await deps.signal.take([main], 5);
    expect(taken).toEqual(ids.slice(at, at + 5));
    // By two processes.
    await Promise.all([refill(), refill()]);
    for (const id of taken) await take(id);
    await refill();
  }
  expect(await length()).toBe(550);
});

test("what may not start any more is dropped from the front of the list, rather than signalled over", async () => {
  await setLimits(deps, main, queueLimits.parse({ group_rate: { limit: 1, period_seconds: 3_600 } }));
  await addUsedUp(200);
  const used_up = await deps.database.sql<{ id: string }[]>`SELECT id FROM atlasqueue.jobs ORDER BY id`;
  const others = await addMany(30);
  await deps.signal.push(signalled([...used_up.map(({ id }) => id), ...others]));
  await refill();
  expect(await deps.signal.take([main], 30)).toEqual(others);
});

test("a list that has none of a queue's next jobs near its front has them put there", async () => {
  await setLimits(deps, main, queueLimits.parse({ concurrency: 10 }));
  const ids = await addMany(20);
  await deps.signal.push(signalled(ids.slice(10)));
  await refill();
  await refill();
  expect(await deps.signal.take([main], 100)).toEqual(ids);
});

test("what may start again behind thousands of used-up jobs goes in front of a long list of younger ones", async () => {
  await setLimits(deps, main, queueLimits.parse({ group_rate: { limit: 1, period_seconds: 3_600 } }));
  await addUsedUp(front_jobs_max);
  const ids = await addMany(600);
  await deps.signal.push(signalled(ids.slice(20)));
  await refillQueue(deps, main, { behind: new Map() });
  await refillQueue(deps, main, { behind: new Map() });
  expect(await deps.signal.take([main], 1_000)).toEqual(ids);
});

test("a long list that has the backlog in its order is kept while the first of it is being claimed", async () => {
  await setLimits(deps, main, queueLimits.parse({ concurrency: 1 }));
  const ids: string[] = [];
  for (let at = 0; at < 11; at += 1) ids.push(...(await addMany(1_000)));
  const stale = Array.from({ length: 10 }, () => crypto.randomUUID());
  await deps.signal.push(signalled([...ids, ...stale]));
  await deps.signal.take([main], 1);
  await refill();
  expect(await deps.signal.take([main], 20_000)).toEqual([...ids, ...stale]);
});

test("a long list of which more than half is over has what waits in its order, and nothing else", async () => {
  await setLimits(deps, main, queueLimits.parse({ concurrency: 1 }));
  const ids = await addMany(20);
  const over = Array.from({ length: 10_001 }, () => crypto.randomUUID());
  await deps.signal.push(signalled([...ids, ...over]));
  await deps.signal.take([main], 1);
  await refill();
  expect(await deps.signal.take([main], 20_000)).toEqual(ids);
});

test("a job that is older than its place in the list goes in front of it, and nothing is lost of what was before it", async () => {
  await setLimits(deps, main, queueLimits.parse({ concurrency: 1 }));
  const ids = await addMany(300);
  const due = ids[250] ?? "";
  await deps.database.sql`UPDATE atlasqueue.jobs SET ready_at = now() - interval '1 hour' WHERE id = ${due}`;
  await deps.signal.push(signalled(ids));
  await refill();
  expect(await deps.signal.take([main], 1_000)).toEqual([due, ...ids]);
});

test("processes that know of different jobs do not make a list longer and longer", async () => {
  await setLimits(deps, main, queueLimits.parse({ group_rate: { limit: 1, period_seconds: 3_600 } }));
  await addUsedUp(near_jobs_max);
  const ids = await addMany(100);
  const [one, two] = [createStock(), createStock()];
  one.add(main, ids.slice(0, 60));
  two.add(main, ids.slice(40));
  for (let end = 0; end < 10; end += 1) for (const stock of [two, one]) await refillQueue(deps, main, "near", stock);
  expect(await deps.signal.take([main], 1_000)).toEqual(ids);
});

test("a list that was full takes new jobs again once all that wait are in it, and not before", async () => {
  await setLimits(deps, main, queueLimits.parse({ concurrency: 10 }));
  const signal = memorySignal({ signalsMax: 15 });
  const ids = await addMany(20);
  for (const job of signalled(ids)) await signal.push([job]);
  await signal.take([main], 15);
  await refillQueue({ ...deps, signal }, main, "near");
  expect(await signal.look(main)).toMatchObject({ length: 10, overflowed: true });
  await signal.take([main], 15);
  for (const id of ids.slice(0, 15)) await finish(id);
  await refillQueue({ ...deps, signal }, main, "near");
  expect(await signal.look(main)).toMatchObject({ length: 5, overflowed: false });
});
