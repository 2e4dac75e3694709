import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSemaphore } from "./semaphore.ts";

/** Enters with each of these signals, and keeps the order in which they get in. */
function queued(places: number, signals: readonly AbortSignal[]) {
  const semaphore = createSemaphore(places);
  const order: number[] = [];
  const entering = signals.map(async (signal, at) => {
    await semaphore.enter(signal);
    order.push(at);
  });
  return { semaphore, order, entering };
}
const never = new AbortController().signal;

test("no more get in than there are places, and the first that came goes first", async () => {
  const { semaphore, order } = queued(2, [never, never, never, never]);
  await turn();
  expect(order).toEqual([0, 1]);
  expect(semaphore.waiting()).toBe(2);
  semaphore.leave();
  await turn();
  expect(order).toEqual([0, 1, 2]);
  for (let left = 3; left > 0; left -= 1) semaphore.leave();
  await turn();
  expect([order, semaphore.waiting()]).toEqual([[0, 1, 2, 3], 0]);
  await semaphore.enter(never);
});

test("one that gives up leaves the line, and its place goes to the next", async () => {
  const given_up = new AbortController();
  const { semaphore, order, entering } = queued(1, [never, given_up.signal, never]);
  given_up.abort(new Error("enough"));
  await expect(entering[1]).rejects.toThrow("enough");
  expect(semaphore.waiting()).toBe(1);
  semaphore.leave();
  await turn();
  expect(order).toEqual([0, 2]);
  await expect(semaphore.enter(given_up.signal)).rejects.toThrow("enough");
});

test("a place that is given as its signal aborts is not lost", async () => {
  const given_up = new AbortController();
  const { semaphore, entering } = queued(1, [never, given_up.signal]);
  await turn();
  semaphore.leave();
  given_up.abort(new Error("late"));
  await entering[1];
  semaphore.leave();
  await semaphore.enter(never);
});
