import { expect, test } from "vitest";
import { createWaiting } from "./waiting.ts";

const one = (holder: string, nr: number, rows = 1, bytes = 1) => ({ holder, nr, rows, bytes });
const shown = (ones: readonly { holder: string; nr: number }[]) =>
  ones.map(({ holder, nr }) => `${holder}${nr}`).join(" ");
const bounds = { rows_max: 4, bytes_max: 100 };

test("each holder's requests come in order, one of each in turn, and the turns go on in the next batch", () => {
  const waiting = createWaiting<ReturnType<typeof one>>();
  for (let nr = 1; nr <= 4; nr += 1) waiting.addLast(one("a", nr));
  for (const holder of ["b", "c"]) waiting.addLast(one(holder, 1));
  expect(shown(waiting.take({ ...bounds, rows_max: 2 }))).toBe("a1 b1");
  expect(shown(waiting.take(bounds))).toBe("c1 a2 a3 a4");
  expect(waiting.size()).toBe(0);
  expect(waiting.take(bounds)).toEqual([]);
});

test("a batch has one request at least, and otherwise keeps to its bounds", () => {
  const waiting = createWaiting<ReturnType<typeof one>>();
  for (const [nr, bytes] of [500, 60, 60].entries()) waiting.addLast(one("a", nr, 1, bytes));
  for (const [nr, rows] of [9, 3, 1, 1].entries()) waiting.addLast(one("b", nr, rows));
  const batches: string[] = [];
  while (waiting.size() > 0) batches.push(shown(waiting.take(bounds)));
  expect(batches).toEqual(["a0", "b0", "a1 b1", "a2 b2 b3"]);
});

test("what is removed leaves the others in their order", () => {
  const waiting = createWaiting<ReturnType<typeof one>>();
  for (let nr = 1; nr <= 3; nr += 1) for (const holder of ["a", "b"]) waiting.addLast(one(holder, nr));
  waiting.addLast(one("c", 2));
  expect(shown(waiting.remove(({ nr }) => nr === 2))).toBe("a2 b2 c2");
  expect(waiting.size()).toBe(4);
  expect(shown(waiting.take(bounds))).toBe("a1 b1 a3 b3");
});
