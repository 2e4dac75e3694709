import { expect, test } from "vitest";
import { createBatcher, type BatcherOptions } from "./batcher.ts";

/** Batches as they are flushed, each under way until it is let go. */
function held<Item>(options: Omit<BatcherOptions<Item>, "flush">) {
  const batches: Item[][] = [];
  const ends: (() => void)[] = [];
  const batcher = createBatcher<Item>({
    ...options,
    flush: (batch) => {
      batches.push(batch);
      return new Promise((resolve) => ends.push(resolve));
    },
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const end = async () => {
    await turn();
    ends.shift()?.();
    await turn();
    await turn();
  };
  return { batcher, batches, end, turn };
}

test("items of one turn go together, and those that come meanwhile in the next batch", async () => {
  const { batcher, batches, end, turn } = held<number>({ items_max: 3 });
  batcher.add(1);
  batcher.add(2);
  await turn();
  batcher.add(3, 4, 5, 6);
  expect(batches).toEqual([[1, 2]]);
  await end();
  expect(batches).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  await end();
  const idle = batcher.idle();
  await end();
  await idle;
  expect(batches).toEqual([[1, 2], [3, 4, 5], [6]]);
  expect(batcher.isBusy()).toBe(false);
  await batcher.idle();
});

test("several flights are under way at once", async () => {
  const { batcher, batches, turn } = held<number>({ items_max: 1, flights_max: 2 });
  batcher.add(1, 2, 3);
  await turn();
  await turn();
  expect(batches).toEqual([[1], [2]]);
  expect(batcher.isBusy()).toBe(true);
});

test("a batch has as many bytes as it may, and one item at least", async () => {
  const { batcher, batches, end } = held<number>({ items_max: 10, bytes_max: 10, bytesOf: (item) => item });
  batcher.add(4, 6, 20, 1);
  for (let batch = 0; batch < 3; batch += 1) await end();
  expect(batches).toEqual([[4, 6], [20], [1]]);
});

test("what does not fit the first of a batch stays for a later one, in order", async () => {
  const { batcher, batches, end } = held<number>({ items_max: 10, fits: (first, item) => first % 2 === item % 2 });
  batcher.add(1, 2, 3, 4);
  for (let batch = 0; batch < 2; batch += 1) await end();
  expect(batches).toEqual([
    [1, 3],
    [2, 4],
  ]);
});
