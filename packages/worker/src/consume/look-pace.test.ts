import { expect, test } from "vitest";
import { createLookPace } from "./look-pace.ts";

/** Others were answered meanwhile. */
const late = new Error("late");

/** A pace by a clock of its own. Looks take the times given, one after the other, each as soon as it is due. */
function paced() {
  let clock = 0;
  const pace = createLookPace(
    () => clock,
    (error) => error === late,
  );
  const lookFor = async (took_ms: number, ends: () => Promise<boolean> = async () => false): Promise<number> => {
    clock += pace.dueInMs(false);
    await pace.around(() => ((clock += took_ms), ends())).catch(() => {});
    pace.stir();
    return pace.dueInMs(false);
  };
  return { lookFor, clock: () => clock };
}

test("after a look that waited for the database once, others follow soon", async () => {
  const { lookFor } = paced();
  expect(await lookFor(2)).toBe(20);
  expect(await lookFor(5_000)).toBeLessThanOrEqual(1_000);
  expect(await lookFor(2)).toBe(20);
});

test.each([
  ["slow", [2_000], async () => false],
  ["slow and quick in turn", [2_000, 1, 1], async () => false],
  ["as slow as a deadline lets them be", [5_000], async () => false],
  ["late each time", [5_000], () => Promise.reject(late)],
])("looks that are %s get a tenth of the time", async (_name, times, ends) => {
  const { lookFor, clock } = paced();
  let looked_ms = 0;
  for (let look = 0; clock() < 3_600_000; look += 1) {
    const took_ms = times[look % times.length] ?? 0;
    await lookFor(took_ms, ends);
    looked_ms += took_ms;
  }
  expect(looked_ms / clock()).toBeLessThan(0.11);
});

test("looks that fail, however late, rest no longer than they took, and a short while at first", async () => {
  const { lookFor } = paced();
  const fails = () => Promise.reject(new Error("away"));
  const rests = [];
  for (let look = 0; look < 6; look += 1) rests.push(await lookFor(5_000, fails));
  expect(rests).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  expect(await lookFor(2)).toBe(20);
  expect(await lookFor(0, fails)).toBe(500);
});
