import { limits, storableText } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { createTextCutter } from "./text-cutter.ts";

/** The body in pieces of the given size, as far as it is kept. */
function cut(text: string, at_depth: number, piece: number): string {
  const cutter = createTextCutter(at_depth);
  const bytes = Buffer.from(text);
  const kept: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += piece) kept.push(cutter.push(bytes.subarray(at, at + piece)));
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(kept));
}

const long = 120_000;
const texts = {
  ascii: "e".repeat(long),
  "two bytes": "é".repeat(long),
  "four bytes": `x${"😀".repeat(long)}`,
  quotes: `"\\`.repeat(long),
  mixed: `é"😀\n\u0001x`.repeat(long / 6),
};
const escaped = (text: string) =>
  `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;

test.each(
  Object.entries(texts).flatMap(([name, text]) => [
    [name, text, JSON.stringify(text)] as const,
    [`${name}, all of it escaped`, text, escaped(text)] as const,
  ]),
)("a long error is cut, and what is stored stays the same: %s", (_name, text, json) => {
  for (const piece of [1_000_000, 1_021]) {
    const kept = cut(`{"lease_token":"t","error":${json},"retry":false}`, 1, piece);
    expect(kept.length).toBeLessThan(50_000);
    const read = JSON.parse(kept) as { error: string; retry: boolean };
    expect(read.retry).toBe(false);
    expect(read.error.isWellFormed()).toBe(true);
    expect(storableText(read.error)).toBe(storableText(text));
  }
});

test("nothing else is cut: other keys, other depths, the word itself, keys that only look like it", () => {
  const text = "x".repeat(long);
  for (const value of [
    { result: text, a: "error", b: text },
    { result: { error: text } },
    { errors: text, error_: text, erro: text },
    { error: [text] },
    [{ error: 1, x: text }],
  ]) {
    const json = JSON.stringify(value);
    expect(cut(json, 1, 4_096) === json).toBe(true);
  }
});

test("errors in a list are cut in place, each separately", () => {
  const nacks = [1, 2, 3].map((id) => ({ id, error: "e".repeat(long), error_data: { error: "d".repeat(long) } }));
  const kept = JSON.parse(cut(JSON.stringify({ acks: [], nacks }), 3, 777)) as { nacks: typeof nacks };
  for (const [at, { id, error, error_data }] of kept.nacks.entries()) {
    expect(id).toBe(at + 1);
    expect(error.length).toBeLessThan(limits.error_chars_max * 7);
    expect(error.length).toBeGreaterThan(limits.error_chars_max);
    expect(error_data.error.length).toBe(long);
  }
});
