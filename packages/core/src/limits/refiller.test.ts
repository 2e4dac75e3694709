import { queueLimits } from "@atlasqueue/contract";
import { eventually, steppingDatabase } from "@atlasqueue/testing";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { createRefiller } from "./refiller.ts";
import { setLimits } from "./set.ts";
import { createStock } from "./stock.ts";
import { front_jobs_max } from "./within-rates.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { engineHarness, main } from "../../test/engine-harness.ts";

const { deps, add, addUsedUp, finish } = engineHarness();

/** A refiller whose statements that include `part`, but for the first `free`, wait for `open`; told is when they began. */
function heldAt(part: string, free = 0) {
  const signal = memorySignal();
  const gate = Promise.withResolvers<void>();
  const began: number[] = [];
  let near = 0;
  const database = steppingDatabase(deps.database, async (kind, _n, text) => {
    if (kind !== "statement") return;
    if (text.includes("AS by_group")) near += 1;
    if (!text.includes(part)) return;
    began.push(performance.now());
    if (began.length > free) await gate.promise;
  });
  // However slow the machine is, what was found is not too old.
  const stock = createStock(() => 0);
  const refiller = createRefiller({ ...deps, database, signal }, stock);
  onTestFinished(() => {
    gate.resolve();
    refiller.stop();
  });
  return { refiller, signal, stock, began, looks: () => began.length, near: () => near, open: () => gate.resolve() };
}

test("while a queue is refilled, the ends of any number of its jobs ask for one more refill", async () => {
  await setLimits(deps, main, queueLimits.parse({ concurrency: 5 }));
  const held = heldAt("AS by_group");
  held.refiller.freed(main);
  await eventually(async () => expect(held.looks()).toBe(1));
  for (let ended = 0; ended < 20; ended += 1) {
    held.refiller.freed(main);
    // Its timer goes off before ours.
    await delay(3);
  }
  expect(held.looks()).toBe(1);
  const [id] = await add({});
  held.open();
  await eventually(async () => expect(await held.signal.take([main], 10)).toEqual([id]));
  await eventually(async () => expect(held.looks()).toBe(2));
});

test("a tenant's queues look past their first jobs one after another; its near refills go on meanwhile", async () => {
  const first = { ...main, queue: "a" };
  const queues = [first, { ...main, queue: "b" }, { ...main, queue: "c" }];
  for (const queue of queues) {
    await setLimits(
      deps,
      queue,
      queueLimits.parse({ group_concurrency: 1_000, group_rate: { limit: 1, period_seconds: 3_600 } }),
    );
    await add(...Array.from({ length: 600 }, () => ({ queue: queue.queue, group: "large" })));
  }
  const held = heldAt("LIMIT 5000");
  for (const queue of queues) held.refiller.freed(queue);
  const firsts = async () =>
    (await Promise.all(queues.map((queue) => held.signal.look(queue)))).map(({ length }) => length);
  await eventually(async () => expect(await firsts()).toEqual([1, 1, 1]));
  await eventually(async () => expect(held.looks()).toBe(1));
  const [urgent] = await add({ queue: "a", priority: 9 });
  held.refiller.freed(first);
  await eventually(async () => expect(await held.signal.take([first], 10)).toContain(urgent));
  expect(held.looks()).toBe(1);
  held.open();
  await eventually(async () => expect(held.looks()).toBeGreaterThanOrEqual(3));
});

test("a queue rests between two further looks, for one that was asked for during the first too", async () => {
  const group_rate = { limit: 1, period_seconds: 3_600 };
  await setLimits(deps, main, queueLimits.parse({ group_concurrency: 1_000, group_rate }));
  await add(...Array.from({ length: 600 }, () => ({ group: "large" })));
  const held = heldAt("LIMIT 5000");
  held.refiller.freed(main);
  await eventually(async () => expect(held.looks()).toBe(1));
  // The further look has asked for the room too. Once the third refill begins, the second has asked for another such look.
  for (const refills of [3, 4]) {
    held.refiller.freed(main);
    await eventually(async () => expect(held.near()).toBeGreaterThanOrEqual(refills));
  }
  const opened = performance.now();
  held.open();
  await eventually(async () => expect(held.looks()).toBe(2));
  expect((held.began[1] ?? 0) - opened).toBeGreaterThan(490);
});

/** Jobs of other groups behind `count` of used-up ones, in a queue that runs two at a time. */
async function addBehind(count: number, others: number): Promise<string[]> {
  const group_rate = { limit: 1, period_seconds: 3_600 };
  await setLimits(deps, main, queueLimits.parse({ concurrency: 2, group_rate }));
  await addUsedUp(count);
  return add(...Array.from({ length: others }, (_, at) => ({ group: `other ${at}` })));
}

/** Run what is signalled, one after the other, each of which makes room for the next. */
async function runSignalled({ refiller, signal }: ReturnType<typeof heldAt>, count: number): Promise<string[]> {
  const ran: string[] = [];
  const signalled = new Set<string>();
  while (ran.length < count) {
    await eventually(async () => {
      for (const id of await signal.take([main], 10)) if (!ran.includes(id)) signalled.add(id);
      expect(signalled.size).toBeGreaterThan(0);
    });
    const [id = ""] = signalled;
    signalled.delete(id);
    await finish(id);
    ran.push(id);
    refiller.freed(main);
  }
  return ran;
}

test("behind hundreds of used-up jobs, one look is enough for the ends of many jobs", async () => {
  const ids = await addBehind(600, 40);
  const held = heldAt("LIMIT 5000", 1);
  held.refiller.freed(main);
  expect(await runSignalled(held, ids.length)).toEqual(ids);
});

test("and so it is behind thousands", { tags: ["slow"] }, async () => {
  const ids = await addBehind(front_jobs_max, 40);
  const held = heldAt("page AS MATERIALIZED", 1);
  held.refiller.freed(main);
  expect(await runSignalled(held, ids.length)).toEqual(ids);
});

test("what may no longer start is not signalled, and keeps the queue from no further look", async () => {
  const [first = "", ...others] = await addBehind(600, 5);
  const held = heldAt("LIMIT 5000", 1);
  held.refiller.freed(main);
  await eventually(() => expect(held.stock.of(main)).toEqual([first, ...others]));
  await eventually(async () => expect(await held.signal.take([main], 10)).toEqual([first, others[0]]));
  await deps.database.sql`
    INSERT INTO atlasqueue.queue_starts SELECT tenant, queue, group_key, statement_timestamp(), 1 FROM atlasqueue.jobs WHERE group_key LIKE 'other%'`;
  const [late] = await add({ group: "late" });
  held.refiller.freed(main);
  await eventually(() => expect(held.looks()).toBe(2));
  expect(await held.signal.take([main], 10)).toEqual([]);
  held.open();
  await eventually(async () => expect(await held.signal.take([main], 10)).toEqual([late]));
});

test("of a group, no more of what was found is signalled than it has starts left by then, and what is newer in front goes first", async () => {
  const group_rate = { limit: 3, period_seconds: 3_600 };
  await setLimits(deps, main, queueLimits.parse({ group_concurrency: 1_000, group_rate }));
  await add(...Array.from({ length: 600 }, () => ({ group: "large" })));
  await deps.database
    .sql`INSERT INTO atlasqueue.queue_starts VALUES ('default', 'default', 'large', statement_timestamp(), 3)`;
  const [a = "", b = "", , other = ""] = await add({ group: "g" }, { group: "g" }, { group: "g" }, { group: "h" });
  const held = heldAt("LIMIT 5000", 1);
  held.refiller.freed(main);
  await eventually(async () => expect(await held.signal.take([main], 10)).toHaveLength(4));
  await deps.database
    .sql`INSERT INTO atlasqueue.queue_starts VALUES ('default', 'default', 'g', statement_timestamp(), 1)`;
  const [urgent = ""] = await add({ group: "urgent", priority: 5 });
  held.refiller.freed(main);
  await eventually(async () => expect(await held.signal.take([main], 10)).toEqual([urgent, a, b, other]));
});

test("while nobody takes what is signalled, ends of jobs add nothing to it", async () => {
  await addBehind(600, 40);
  const held = heldAt("LIMIT 5000", 1);
  held.refiller.freed(main);
  await eventually(async () => expect((await held.signal.look(main)).length).toBe(2));
  for (let refills = held.near() + 1; refills < 10; refills += 1) {
    held.refiller.freed(main);
    await eventually(() => expect(held.near()).toBeGreaterThanOrEqual(refills));
  }
  expect((await held.signal.look(main)).length).toBe(2);
});

test("once it is stopped, nothing is kept of what was found, nor of what a look under way finds", async () => {
  await addBehind(600, 5);
  const held = heldAt("LIMIT 5000", 1);
  held.refiller.freed(main);
  await eventually(() => expect(held.stock.of(main)).toHaveLength(5));
  held.refiller.freed(main);
  await eventually(() => expect(held.looks()).toBe(2));
  held.refiller.stop();
  expect(held.stock.of(main)).toEqual([]);
  const added = vi.spyOn(held.stock, "add");
  held.open();
  await eventually(() => expect(added).toHaveBeenCalled());
  expect(held.stock.of(main)).toEqual([]);
});
