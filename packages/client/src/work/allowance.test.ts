import { expect, test, vi } from "vitest";
import { fakeClock } from "../../test/fake-clock.ts";
import { createAllowance, type Allowance } from "./allowance.ts";

const leases = { concurrency: 100, lease_ms: 12_000 };
const left = (allowance: Allowance) => allowance.left(0);

test("each late answer leaves half as many jobs to be held, where three of the last four were, and at least one", () => {
  const allowance = createAllowance(leases);
  allowance.answered(50, 0);
  const after = [1_051, 2_000, 1_051, 5_000, 60_000, 9_000, 9_000, 9_000, 9_000, 9_000].map((took_ms) => {
    allowance.answered(took_ms, 0);
    return left(allowance);
  });
  expect(after).toEqual([100, 100, 50, 25, 12, 6, 3, 1, 1, 1]);
});

test("one that does not come in time counts as late", () => {
  const allowance = createAllowance(leases);
  for (let at = 0; at < 3; at += 1) allowance.unanswered();
  expect(left(allowance)).toBe(50);
});

/** What it leaves after each of so many answers in time, so far apart. */
async function growing(allowance: Allowance, answers: number, apart_ms: number): Promise<number[]> {
  const pass = fakeClock();
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const room: number[] = [];
  for (let at = 0; at < answers; at += 1) {
    await pass(apart_ms);
    allowance.answered(100, 0);
    room.push(left(allowance));
  }
  return room;
}

test("those that are in time leave room for half as many jobs more, and one at least", async () => {
  const allowance = createAllowance(leases);
  for (let at = 0; at < 10; at += 1) allowance.unanswered();
  const room = await growing(allowance, 12, 2_500);
  expect(room.slice(0, 9)).toEqual([2, 3, 4, 6, 10, 15, 22, 34, 51]);
  expect(room.at(-1)).toBe(100);
});

test("however many are in time, they leave more room once in a while", async () => {
  const allowance = createAllowance(leases);
  for (let at = 0; at < 10; at += 1) allowance.unanswered();
  const room = await growing(allowance, 60, 100);
  expect(room.at(-1)).toBe(4);
});

test("workers that begin at the same time do not grow in step", async () => {
  const pass = fakeClock();
  const random = vi.spyOn(Math, "random");
  const [soon, late] = [0, 0.99].map((chance) => {
    const allowance = createAllowance(leases);
    for (let at = 0; at < 10; at += 1) allowance.unanswered();
    random.mockReturnValue(chance);
    allowance.answered(100, 0);
    return allowance;
  });
  await pass(1_300);
  soon?.answered(100, 0);
  late?.answered(100, 0);
  expect([soon?.left(0), late?.left(0)]).toEqual([3, 2]);
});

test("after an answer in time one more job is asked for sooner than after a late one", () => {
  const allowance = createAllowance({ concurrency: 10, lease_ms: 60_000 });
  expect(allowance.restMs()).toBe(5_000);
  allowance.unanswered();
  expect(allowance.restMs()).toBe(30_000);
  expect(createAllowance({ concurrency: 10, lease_ms: 3_000 }).restMs()).toBe(3_000);
});

test("late ones among others, as of one slow process behind the same address, leave as many", () => {
  const allowance = createAllowance(leases);
  for (let at = 0; at < 20; at += 1) for (const took_ms of [50, 3_000]) allowance.answered(took_ms, 0);
  expect(left(allowance)).toBe(100);
});

test("a long way to the API makes no answer late", () => {
  const allowance = createAllowance(leases);
  for (let at = 0; at < 10; at += 1) allowance.answered(3_000 + 90 * at, 0);
  expect(left(allowance)).toBe(100);
});

test("a way to the API that has become longer is late at first, and learned in the end", async () => {
  const pass = fakeClock();
  const allowance = createAllowance(leases);
  allowance.answered(1_000, 0);
  for (let at = 0; at < 20; at += 1) allowance.answered(2_500, 0);
  expect(left(allowance)).toBe(1);
  for (let at = 0; at < 200 + 31; at += 1) {
    await pass(2_500);
    allowance.answered(2_500, 0);
  }
  expect(left(allowance)).toBe(100);
});

test("of a short lease it takes a quarter of a second to be late", () => {
  const allowance = createAllowance({ concurrency: 100, lease_ms: 1_000 });
  for (const took_ms of [10, 250, 10, 250]) allowance.answered(took_ms, 0);
  expect(left(allowance)).toBe(100);
});

test("one in time leaves room for some more than are held, as when they run for long", () => {
  const allowance = createAllowance(leases);
  for (let at = 0; at < 10; at += 1) allowance.unanswered();
  allowance.answered(100, 50);
  expect(allowance.left(50)).toBe(6);
});

test("what is held counts while answers are late, and only then", () => {
  const allowance = createAllowance(leases);
  expect(allowance.left(1_000)).toBe(100);
  for (let at = 0; at < 3; at += 1) allowance.unanswered();
  expect([allowance.left(20), allowance.left(80)]).toEqual([30, -30]);
});
