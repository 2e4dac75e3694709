import { createShares } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { takeOrThrow } from "./shares.ts";

const fill = (shares: ReturnType<typeof createShares>, holder: string): number => {
  let taken = 0;
  while (shares.take(holder, 1) === "taken") taken += 1;
  return taken;
};

test("a single holder gets three quarters, and each later one still finds room", () => {
  const shares = createShares(10_000);
  expect(fill(shares, "a")).toBe(7_500);
  expect(shares.take("a", 1)).toBe("share_full");
  expect(fill(shares, "b")).toBe(1_875);
  for (const holder of ["c", "d", "e"]) expect(fill(shares, holder)).toBeGreaterThan(0);
});

test("room given back is available again, to everyone", () => {
  const shares = createShares(8);
  expect(fill(shares, "a")).toBe(6);
  shares.give("a", 6);
  expect(fill(shares, "b")).toBe(6);
});

test("the first of a holder fits wherever there is room, and nothing where there is none", () => {
  const shares = createShares(100);
  expect(shares.take("a", 90)).toBe("taken");
  expect(shares.take("b", 10)).toBe("taken");
  expect(shares.take("c", 1)).toBe("full");
});

test("a refusal says what there is no room for, and whose share it is", () => {
  const shares = createShares(4);
  fill(shares, "a");
  expect(() => takeOrThrow(shares, "a", 1, "waits")).toThrow("The tenant has its share of the waits");
  shares.take("b", 1);
  expect(() => takeOrThrow(shares, "c", 1, "waits")).toThrow("There is no room for more waits");
});
