import { expect, test } from "vitest";
import { createSettler, type OutcomeStore } from "./settler.ts";

type Item = { id: number };

/** A settler of numbers, and the batches that reached its store. */
function settlerOf(store: Partial<OutcomeStore<Item>>) {
  const batches: number[][] = [];
  const settler = createSettler<Item>({
    items_max: 10,
    isHeld: () => true,
    judge: () => "again",
    instead: () => undefined,
    ...store,
    async send(batch) {
      batches.push(batch.map(({ id }) => id));
      return (await store.send?.(batch)) ?? [];
    },
  });
  const settle = (...ids: number[]) => ids.forEach((id) => settler.settle({ id }));
  return { settler, batches, settle };
}

test("outcomes of one turn go together, and again while the store is away", async () => {
  let tries = 0;
  const { settler, batches, settle } = settlerOf({
    async send() {
      tries += 1;
      if (tries < 3) throw new Error("away");
      return [];
    },
  });
  settle(1, 2);
  await settler.drained();
  expect(batches).toEqual([
    [1, 2],
    [1, 2],
    [1, 2],
  ]);
});

test("an outcome that cannot be stored for now keeps no other waiting, and is stored later", async () => {
  const locked = new Set([1]);
  const { settler, batches, settle } = settlerOf({
    send: async (batch) => batch.filter(({ id }) => locked.delete(id)),
  });
  settle(1, 2);
  await settler.drained();
  expect(batches).toEqual([[1, 2], [1]]);
});

test("an outcome that spoils a batch is found by halves, and another is stored in its place", async () => {
  const { settler, batches, settle } = settlerOf({
    async send(batch) {
      if (batch.some(({ id }) => id === 3)) throw new Error("not acceptable");
      return [];
    },
    judge: () => "refused",
    instead: ({ id }) => ({ id: id + 100 }),
  });
  settle(1, 2, 3, 4);
  await settler.drained();
  expect(batches).toEqual([[1, 2, 3, 4], [1, 2], [3, 4], [3], [103], [4]]);
});

test("an outcome whose job is not held is not sent, and none is after giving up", async () => {
  const { settler, batches, settle } = settlerOf({
    isHeld: ({ id }) => id !== 1,
    send: () => Promise.reject(new Error("away")),
  });
  settle(1, 2);
  const drained = settler.drained();
  await new Promise((resolve) => setImmediate(resolve));
  settler.close();
  await drained;
  expect(batches).toEqual([[2]]);
});
