import { expect, test } from "vitest";
import { createStock, ids_max } from "./stock.ts";

const queue = (at: number) => ({ tenant: "default", queue: `q${at}` });
const ids = (count: number) => Array.from({ length: count }, (_, at) => `id ${at}`);

test("a queue has what its last looks found, each once, until they are old", () => {
  let now = 0;
  const stock = createStock(() => now);
  stock.add(queue(1), ["a", "b"]);
  stock.add(queue(2), ids(1));
  stock.add(queue(1), ["c", "a"]);
  stock.add(queue(1), []);
  expect([stock.of(queue(1)), stock.of(queue(2)), stock.of(queue(3))]).toEqual([["c", "a", "b"], ids(1), []]);
  now += 1_999;
  stock.add(queue(1), ["d"]);
  now += 1;
  expect([stock.of(queue(1)), stock.of(queue(2))]).toEqual([["d", "c", "a", "b"], []]);
  stock.add(queue(1), ids(500));
  expect(stock.of(queue(1))).toEqual(ids(500));
  now += 2_000;
  stock.add(queue(1), ["e"]);
  expect(stock.of(queue(1))).toEqual(["e"]);
});

test("however many queues have some, there are no more than so many, and those that were looked at last stay", () => {
  const stock = createStock(() => 0);
  const queues_max = ids_max / 500;
  for (let at = 0; at < queues_max; at += 1) stock.add(queue(at), ids(500));
  stock.add(queue(0), ids(500));
  expect(stock.of(queue(1))).toHaveLength(500);
  stock.add(queue(queues_max), ids(500));
  expect([0, 1, 2, queues_max].map((at) => stock.of(queue(at)).length)).toEqual([500, 0, 500, 500]);
});
