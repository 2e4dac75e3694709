import { expect, test } from "vitest";
import { excerpt, firstOf, jsonExcerpt, type Cuts } from "./excerpt.ts";
import { marked } from "./marked.ts";
import { visible } from "./visible.ts";

test.each([
  ["plain text, with ä, 漢, 😀 and ❤️", "plain text, with ä, 漢, 😀 and ❤️"],
  ["two\nlines\tand a tab", "two\nlines\tand a tab"],
  ["\u001b[31m\u0007\u0085", String.raw`\u001b[31m\u0007\u0085`],
  ["a\u202eb\u2066c\u200dd\u00ade", String.raw`a\u202eb\u2066c\u200dd\u00ade`],
  ["\u2028\u2029", String.raw`\u2028\u2029`],
  ["\u{e0041}", String.raw`\udb40\udc41`],
  ["\u{e0101}\ufe01\u3164", String.raw`\udb40\udd01\ufe01\u3164`],
  ["\ud800", String.raw`\ud800`],
])("%j is shown as %j", (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test("JSON text that was made visible still says the same", () => {
  const value = { "a\u202e": ["\u0000\u{e0041}\u2028", { b: "\n" }] };
  expect(JSON.parse(jsonExcerpt([], value, { name: "payload", chars_max: 1_000 }))).toEqual(value);
});

test("a text is cut to its bound, however much its escapes take up, and a note says so", () => {
  const cuts: Cuts = [];
  expect(excerpt(cuts, "short", { name: "a", chars_max: 5 })).toBe("short");
  expect(cuts).toEqual([]);
  expect(excerpt(cuts, "x".repeat(11), { name: "a", chars_max: 10, more: "ask for more" })).toBe(`${"x".repeat(10)}…`);
  // An escape is not cut in the middle.
  expect(excerpt(cuts, "\u0001\u0001", { name: "b", chars_max: 10 })).toBe(String.raw`\u0001…`);
  expect(excerpt(cuts, `${"x".repeat(9)}😀`, { name: "c", chars_max: 10 })).toBe(`${"x".repeat(9)}…`);
  expect(cuts).toEqual([
    "a: the first 10 of 11 characters; ask for more",
    "b: the first 10 of 12 characters",
    "c: the first 10 of 11 characters",
  ]);
});

test("a long text is read on from where a part of it ended, and nothing is lost or shown twice", () => {
  const text = `${"x".repeat(8)}😀\u202e${"y".repeat(30)}`;
  let read = "";
  for (let offset: number | undefined = 0, turns = 0; offset !== undefined && turns < 20; turns += 1) {
    let next: number | undefined;
    const cuts: Cuts = [];
    const more = (from: number) => `${(next = from)}`;
    read += excerpt(cuts, text, { name: "a", chars_max: 9, offset, more }).replace(/…$/, "");
    const part = offset === 0 ? "the first 9 of" : "9 of";
    if (next !== undefined) expect(cuts[0]).toMatch(new RegExp(`^a: ${part} \\d+ characters.*; ${next}$`));
    offset = next;
  }
  expect(read).toBe(visible(text));
  expect(excerpt([], text, { name: "a", chars_max: 9, offset: 99 })).toBe("");
  // From within a character, it begins with the next one.
  expect(excerpt([], text, { name: "a", chars_max: 9, offset: 9 }).isWellFormed()).toBe(true);
});

test("an answer begins with what to make of it, and tells each cut once", () => {
  const cuts: Cuts = [];
  expect(firstOf(cuts, [1, 2, 3], { name: "jobs", items_max: 2 })).toEqual([1, 2]);
  firstOf(cuts, [1, 2, 3], { name: "jobs", items_max: 2 });
  const answer = marked({ jobs: [] }, cuts);
  expect(Object.keys(answer)).toEqual(["notice", "cut", "jobs"]);
  expect(answer.cut).toEqual(["jobs: the first 2 of 3"]);
});
