import { expect, test } from "vitest";
import { firstOf, piecesOf } from "./pieces.ts";

const line = "x".repeat(99);
const texts = {
  "many lines": Array.from({ length: 2_600 }, (_, at) => `${at} ${line}`).join("\n"),
  "many short lines": Array.from({ length: 20_000 }, () => "{").join("\n"),
  "one endless line": "W".repeat(256_000),
  "an endless line of emoji among others": `a\n${"🧨".repeat(50_000)}\nb`,
  "empty lines": `\n\n\na\n\n${"b".repeat(9_000)}\n\n`,
};

test.each(Object.entries(texts))("of %s nothing is lost, and each piece is small and whole", (_what, text) => {
  const pieces = piecesOf(text);
  expect(pieces.join("").replaceAll("\n", "")).toBe(text.replaceAll("\n", ""));
  for (const piece of pieces) {
    expect(piece.length).toBeLessThanOrEqual(4_000);
    expect(piece.split("\n").length).toBeLessThanOrEqual(60);
    // No character is cut in two.
    expect(encodeURIComponent(piece)).toBeTruthy();
  }
  expect(text.startsWith(firstOf(text))).toBe(true);
  expect(firstOf(text).length).toBeLessThanOrEqual(12_000);
});

test.each(["", "{}", "a\nb", line])("a short text is one piece: %j", (text) => {
  expect(piecesOf(text)).toEqual([text]);
  expect(firstOf(text)).toBe(text);
});
