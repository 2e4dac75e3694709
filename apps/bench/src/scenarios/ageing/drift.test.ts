import { expect, test } from "vitest";
import { driftOf } from "./drift.ts";

const line = (count: number, of: (at: number) => number) => Array.from({ length: count }, (_, at) => of(at));

test("what has grown before the second half, and then stays, is flat", () => {
  expect(
    driftOf(
      line(100, (at) => Math.min(at, 40)),
      0,
    ),
  ).toMatchObject({ half: 40, end: 40, growth: 0, flat: true });
});

test("what grows by more than a tenth over the second half is not", () => {
  const drift = driftOf(
    line(101, (at) => 100 + at),
    0,
  );
  expect(drift.growth).toBeCloseTo(51 / 175);
  expect(drift).toMatchObject({ half: 154.5, end: 195.5, flat: false });
});

test("a saw does not grow", () => {
  expect(
    driftOf(
      line(120, (at) => 1_000 + 500 * (at % 7)),
      0,
    ).flat,
  ).toBe(true);
});

test("what shrinks is flat enough, and so is a growth within the slack", () => {
  expect(
    driftOf(
      line(100, (at) => 200 - at),
      0,
    ).flat,
  ).toBe(true);
  expect(
    driftOf(
      line(100, (at) => 1 + at / 100),
      1,
    ).flat,
  ).toBe(true);
});

test("one sample, or nothing at all, is flat", () => {
  expect(driftOf([5], 0)).toMatchObject({ half: 5, end: 5, growth: 0, flat: true });
  expect(
    driftOf(
      line(10, () => 0),
      0,
    ),
  ).toMatchObject({ growth: 0, flat: true });
});
