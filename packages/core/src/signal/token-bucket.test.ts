import { expect, test } from "vitest";
import { drawPermits, localPermits } from "./token-bucket.ts";

const rate = { limit: 3, period_ms: 1_000 };

test("no one gets more than the limit plus what came back, however oddly they ask", () => {
  let now = 0;
  const draw = localPermits(() => now);
  const odd = { limit: 7, period_ms: 997 };
  let granted = 0;
  for (; now < 100_000; now += 13) granted += draw("a", [1, 2, 1], odd).filter(({ allowed }) => allowed).length;
  expect(granted).toBeLessThanOrEqual(7 + (100_000 / 997) * 7);
});

test("a clock that goes back gives nothing, and takes nothing", () => {
  const { state } = drawPermits(undefined, 5_000, [3], rate);
  expect(drawPermits(state, 0, [1], rate).permits[0]?.allowed).toBe(false);
});

test("permits that are given back can be used again, and there are never more than the limit", () => {
  const draw = localPermits(() => 0);
  draw("a", [3, -1], rate);
  expect(draw("a", [1, 1], rate).map(({ allowed }) => allowed)).toEqual([true, false]);
  draw("b", [-5], rate);
  expect(draw("b", [4], rate)[0]?.allowed).toBe(false);
});
