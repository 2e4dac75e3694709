import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Output } from "./output.ts";
import { duration, plain, plainJson, second } from "./plain.ts";
import { showTable } from "./table.ts";

function shown(items: { name: string; note: string }[], how: Partial<Output>): string[] {
  const said: string[] = [];
  const output = {
    write: (text: string) => void said.push(text),
    tell() {},
    json: false,
    terminal: true,
    width: 80,
    ...how,
  };
  showTable(output, { name: ({ name }) => name, note: ({ note }) => note }, items);
  return stripVTControlCharacters(said.join("")).trimEnd().split("\n");
}

test("on a terminal a table is aligned, whatever the width of its letters", () => {
  expect(
    shown(
      [
        { name: "日本", note: "x" },
        { name: "mail", note: "" },
        { name: "é", note: "y" },
      ],
      {},
    ),
  ).toEqual(["name  note", "日本  x", "mail", "é     y"]);
});

test("what is too wide for the terminal is cut in the last column; on a pipe nothing is", () => {
  const items = [{ name: "mail", note: "日本".repeat(10) }];
  expect(shown(items, { width: 20 })).toEqual(["name  note", "mail  日本日本日本…"]);
  expect(shown(items, { width: 20, terminal: false })).toEqual([`mail\t${"日本".repeat(10)}`]);
});

test("nothing in a job can rewrite the screen, or a line of the list", () => {
  expect(plain("a\u001b[2Jb\nc\td\u0007\ud800")).toBe("a [2Jb c d \ufffd");
  expect(plain("a\u202eb\u2066c\u2028d\u009be")).toBe("a b c d e");
  expect(plainJson({ type: "a\u202eb\u009b\u2028" })).toBe(String.raw`{"type":"a\u202eb\u009b\u2028"}`);
});

test("times are given in their two largest units", () => {
  expect([0, 59_400, 60_000, 7_500_000, 86_400_000 * 3, -5].map(duration)).toEqual([
    "0s",
    "59s",
    "1m 0s",
    "2h 5m",
    "3d 0h",
    "0s",
  ]);
});

test("a time in a table is marked as UTC", () => {
  expect(second("2026-11-20T12:30:07.123Z")).toBe("2026-11-20 12:30:07Z");
  expect(second(null)).toBe("");
});
