import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createCursors, type CursorOf } from "./cursor.ts";

const key = randomBytes(32);
const cursors = createCursors(key);
const of: CursorOf = { list: "jobs", tenant: "a", filter: { queue: "mail", type: undefined } };

test("a cursor works only for its own list, tenant and filter, in every process with the key", () => {
  const cursor = cursors.write(of, "place");
  expect(createCursors(key).read({ ...of, filter: { queue: "mail" } }, cursor)).toBe("place");
  const others: CursorOf[] = [
    { ...of, tenant: "b" },
    { ...of, list: "dead" },
    { ...of, filter: {} },
    { ...of, filter: { queue: "other" } },
    { ...of, filter: { type: "mail" } },
  ];
  for (const other of others) expect(() => cursors.read(other, cursor)).toThrow("next_cursor");
  expect(() => createCursors(randomBytes(32)).read(of, cursor)).toThrow("next_cursor");
});

test("a cursor that was changed, cut, lengthened or made up is refused; a missing one is fine", () => {
  const cursor = cursors.write(of, "place");
  const last = cursor.endsWith("A") ? "B" : "A";
  for (const bad of [
    "x",
    "junk",
    `${cursor}A`,
    `${cursor}=`,
    cursor.slice(0, -2),
    `${cursor.slice(0, -1)}${last}`,
    "é",
  ])
    expect(() => cursors.read(of, bad)).toThrow("next_cursor");
  expect(cursors.read(of, undefined)).toBeUndefined();
});
