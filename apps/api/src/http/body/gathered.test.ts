import { expect, test } from "vitest";
import { createGathered } from "./gathered.ts";

test("pieces of any size are put together, again and again", () => {
  const text = Buffer.from("a body that comes in pieces");
  const gathered = createGathered();
  for (let size = 1; size <= text.length; size += 1) {
    for (let at = 0; at < text.length; at += size) gathered.add(text.subarray(at, at + size));
    expect(gathered.bytes()).toBe(text.length);
    expect(Buffer.from(gathered.take()).toString()).toBe(text.toString());
  }
  expect(gathered.take()).toHaveLength(0);
  expect(text.toString()).toBe("a body that comes in pieces");
});

test("a single piece is not copied; many take at most twice their size", () => {
  const piece = Buffer.from("whole");
  const gathered = createGathered();
  gathered.add(piece);
  expect(gathered.take().buffer).toBe(piece.buffer);
  for (let n = 0; n < 100_000; n += 1) gathered.add(piece.subarray(0, 1));
  expect(gathered.take().buffer.byteLength).toBeLessThanOrEqual(200_000);
});
