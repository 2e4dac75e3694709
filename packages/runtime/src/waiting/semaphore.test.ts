import { expect, test } from "vitest";
import { createSemaphore, type EnterOptions } from "./semaphore.ts";

/** Enters with each of these, and keeps the order in which they get in. */
function queued(places: number, asked: readonly EnterOptions[]) {
  const semaphore = createSemaphore(places);
  const order: number[] = [];
  const leaves: (() => void)[] = [];
  const entering = asked.map(async (options, at) => {
    leaves.push(await semaphore.enter(options));
    order.push(at);
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const drain = async (): Promise<number[]> => {
    for (let at = 0; at < asked.length; at += 1) {
      await turn();
      leaves.shift()?.();
    }
    return order;
  };
  return { semaphore, order, leaves, entering, drain, turn };
}

test("no more get in than there are places, and the first that came goes first", async () => {
  const { semaphore, order, leaves, drain, turn } = queued(2, [{}, {}, {}, {}]);
  await turn();
  expect(order).toEqual([0, 1]);
  expect(semaphore.waiting()).toBe(2);
  leaves[0]?.();
  // A place is left once.
  leaves.shift()?.();
  await turn();
  expect(order).toEqual([0, 1, 2]);
  expect(await drain()).toEqual([0, 1, 2, 3]);
  expect(semaphore.waiting()).toBe(0);
});

test("holders take turns, and higher priorities go before lower ones", async () => {
  const one = { holder: "one" };
  const { drain } = queued(1, [one, one, one, one, { holder: "two" }, { holder: "two" }, { ...one, priority: 1 }]);
  expect(await drain()).toEqual([0, 6, 1, 4, 2, 5, 3]);
});

test("one that gives up leaves the line, and its place goes to the next", async () => {
  const given_up = new AbortController();
  const { semaphore, drain, entering } = queued(1, [{}, { signal: given_up.signal }, {}]);
  given_up.abort(new Error("enough"));
  await expect(entering[1]).rejects.toThrow("enough");
  expect(semaphore.waiting()).toBe(1);
  expect(await drain()).toEqual([0, 2]);
  await expect(semaphore.enter({ signal: given_up.signal })).rejects.toThrow("enough");
});
