import { queueLimits } from "@atlasqueue/contract";
import { eventually, steppingDatabase } from "@atlasqueue/testing";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createRefiller } from "./refiller.ts";
import { setLimits } from "./set.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { engineHarness, main } from "../../test/engine-harness.ts";

const { deps, add } = engineHarness();

/** A refiller whose statements that include `part` wait for `open`; told is when they began. */
function heldAt(part: string) {
  const signal = memorySignal();
  const gate = Promise.withResolvers<void>();
  const began: number[] = [];
  let near = 0;
  const database = steppingDatabase(deps.database, async (kind, _n, text) => {
    if (kind !== "statement") return;
    if (text.includes("AS by_group")) near += 1;
    if (!text.includes(part)) return;
    began.push(performance.now());
    await gate.promise;
  });
  const refiller = createRefiller({ ...deps, database, signal });
  onTestFinished(() => {
    gate.resolve();
    refiller.stop();
  });
  return { refiller, signal, began, looks: () => began.length, near: () => near, open: () => gate.resolve() };
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
