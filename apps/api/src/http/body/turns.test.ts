import { expect, test } from "vitest";
import { createTurns } from "./turns.ts";

test("turns rotate among holders, and each holder's first goes first", async () => {
  const turns = createTurns();
  const took: string[] = [];
  const take = (holder: string, name: string) => turns.take(holder).then(() => void took.push(name));
  await Promise.all([take("a", "a1"), take("a", "a2"), take("a", "a3"), take("b", "b1"), take("c", "c1")]);
  expect(took).toEqual(["a1", "b1", "c1", "a2", "a3"]);
});

test("between two turns the event loop gets to everything else", async () => {
  const turns = createTurns();
  const seen: string[] = [];
  const taken = ["1", "2", "3"].map((name) => turns.take("a").then(() => void seen.push(name)));
  setImmediate(() => seen.push("else"));
  await Promise.all(taken);
  expect(seen).toEqual(["1", "else", "2", "3"]);
});
