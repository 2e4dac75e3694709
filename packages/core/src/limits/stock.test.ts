import { expect, test } from "vitest";
import { createStock, ids_max } from "./stock.ts";

const queue = (at: number) => ({ tenant: "default", queue: `q${at}` });
const ids = (count: number) => Array.from({ length: count }, (_, at) => `id ${at}`);

test("a queue has what its last look found, until that is old", () => {
  let now = 0;
  const stock = createStock(() => now);
  stock.put(queue(1), ids(3));
  stock.put(queue(2), ids(1));
  stock.put(queue(1), ids(2));
  expect([stock.of(queue(1)), stock.of(queue(2)), stock.of(queue(3))]).toEqual([ids(2), ids(1), []]);
  now += 1_999;
  stock.put(queue(1), ids(4));
  now += 1;
  expect([stock.of(queue(1)), stock.of(queue(2))]).toEqual([ids(4), []]);
  stock.put(queue(1), []);
  expect(stock.of(queue(1))).toEqual([]);
});

test("however many queues have some, there are no more than so many, and those that were looked at last stay", () => {
  const stock = createStock(() => 0);
  const queues_max = ids_max / 500;
  for (let at = 0; at < queues_max; at += 1) stock.put(queue(at), ids(500));
  stock.put(queue(0), ids(500));
  expect(stock.of(queue(1))).toHaveLength(500);
  stock.put(queue(queues_max), ids(500));
  expect([0, 1, 2, queues_max].map((at) => stock.of(queue(at)).length)).toEqual([500, 0, 500, 500]);
});
