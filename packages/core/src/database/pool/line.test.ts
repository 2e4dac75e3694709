import { expect, test } from "vitest";
import { createLine } from "./line.ts";

type Class = "first" | "second" | "third";
const line = () => createLine<Class, string>(["first", "second", "third"]);
/** Turns, one after another, each of who was next. */
function turns(of: ReturnType<typeof line>, count: number, each = () => {}): string {
  let had = "";
  for (let turn = 0; turn < count; turn += 1) {
    const next = of.next();
    if (!next) break;
    of.delete(next.one);
    of.took(next.of);
    had += next.one;
    each();
  }
  return had;
}

test("earlier classes go first, and within a class who came first", () => {
  const waiting = line();
  for (const [of, one] of [
    ["second", "c"],
    ["first", "a"],
    ["second", "d"],
    ["first", "b"],
  ] as const)
    waiting.add(of, one);
  expect([waiting.size(), turns(waiting, 9), waiting.size()]).toEqual([4, "abcd", 0]);
});

test("who comes goes after its own class and earlier ones, and before later ones", () => {
  const waiting = line();
  waiting.add("second", "a");
  expect((["first", "second", "third"] as const).map((of) => waiting.isBefore(of))).toEqual([false, true, true]);
});

test("what never ends takes three turns in a row from what is behind it, and no more", () => {
  const waiting = line();
  const more = () => void waiting.add("first", "a");
  more();
  for (const one of "xyz") waiting.add("third", one);
  expect(turns(waiting, 12, more)).toBe("aaaxaaayaaaz");
  for (const one of "xy") waiting.add("third", one);
  for (const one of "mn") waiting.add("second", one);
  expect(turns(waiting, 10, more)).toBe("aaaxmaayan");
});

test("where a class cannot have its turn now, the one after it does", () => {
  const waiting = line();
  waiting.add("second", "a");
  waiting.add("third", "b");
  expect([waiting.next("second")?.one, waiting.next("first")?.one]).toEqual(["b", "a"]);
});

test("one that leaves the line has no turn", () => {
  const waiting = line();
  waiting.add("first", "a");
  expect([waiting.delete("a"), waiting.delete("a"), waiting.next()]).toEqual([true, false, undefined]);
});
