import { expect, test } from "vitest";
import { createLineReader, type Line } from "./lines.ts";

const bounds = { line_bytes_max: 20, lines_max: 3, idle_ms: 60_000 };
const never = new AbortController().signal;

function bodyOf(pieces: readonly (string | Error)[]) {
  const left = [...pieces];
  return {
    next: async () => {
      const piece = left.shift();
      if (piece instanceof Error) throw piece;
      return piece === undefined ? undefined : Buffer.from(piece);
    },
    leave: () => {},
  };
}
const shown = (lines: readonly Line[]) => lines.map(({ number, bytes }) => `${number} ${Buffer.from(bytes)}`);

test("lines are cut from any pieces, a few at a time", async () => {
  const text = "one\n\ntwo ü\r\n \nthree\nfour\nfive";
  for (let size = 1; size <= text.length; size += 1) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    const reader = createLineReader(bodyOf(pieces), bounds);
    const found: string[] = [];
    for (;;) {
      const { lines, over } = await reader.take(never);
      expect(lines.length).toBeLessThanOrEqual(3);
      found.push(...shown(lines));
      if (over) break;
    }
    expect(found).toEqual(["1 one", "3 two ü\r", "5 three", "6 four", "7 five"]);
  }
});

test("a line that is too long is over before it has ended, and after the lines before it", async () => {
  for (const end of ["", "\n"]) {
    const reader = createLineReader(bodyOf(["one\n", "x".repeat(15), `${"x".repeat(6)}${end}`]), bounds);
    expect(shown((await reader.take(never)).lines)).toEqual(["1 one"]);
    expect(await reader.take(never)).toEqual({ lines: [], over: { too_long: 2 } });
  }
});

test("a body that breaks off rejects, and harms nobody who has stopped waiting for it", async () => {
  const broken = createLineReader(bodyOf(["half", new Error("cut")]), bounds);
  await expect(broken.take(never)).rejects.toThrow("cut");
  const stop = new AbortController();
  const cut = Promise.withResolvers<Uint8Array>();
  const reader = createLineReader({ ...bodyOf([]), next: () => cut.promise }, bounds);
  const taken = reader.take(stop.signal);
  stop.abort();
  expect(await taken).toEqual({ lines: [], over: "stopped" });
  cut.reject(new Error("cut"));
  expect(await reader.take(stop.signal)).toEqual({ lines: [], over: "stopped" });
});
