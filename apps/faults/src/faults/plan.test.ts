import { expect, test } from "vitest";
import { parts } from "../rig/cast.ts";
import { heldBy } from "./card.ts";
import { cards, plan } from "./plan.ts";

const cast = parts(250, [8_000, 8_001]);
const minute_ms = 60_000;

test("a seed's plan is always the same, and another seed's is another", () => {
  expect(plan(1, 5 * minute_ms, cast)).toEqual(plan(1, 5 * minute_ms, cast));
  expect(plan(2, 5 * minute_ms, cast)).not.toEqual(plan(1, 5 * minute_ms, cast));
});

test("a longer plan begins as a shorter one does", () => {
  const short = plan(3, 2 * minute_ms, cast);
  expect(plan(3, 10 * minute_ms, cast).slice(0, short.length)).toEqual(short);
});

test("faults come every 5 to 15 seconds, and all cards are dealt before one is dealt again", () => {
  const planned = plan(4, 60 * minute_ms, cast);
  const gaps = planned.slice(1).map(({ at_ms }, index) => at_ms - (planned[index]?.at_ms ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5_000);
  expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length).toBeLessThan(15_000);
  expect(new Set(planned.slice(0, cards.length).map(({ card }) => card)).size).toBe(cards.length);
});

test("nothing is planned for a victim that an earlier fault still has", () => {
  const free = new Map<string, number>();
  for (const { at_ms, card, victim, size } of plan(5, 60 * minute_ms, cast)) {
    expect(free.get(heldBy(victim)) ?? 0).toBeLessThanOrEqual(at_ms);
    free.set(heldBy(victim), at_ms + (cards.find(({ name }) => name === card)?.takes_ms(size) ?? 0));
  }
});
