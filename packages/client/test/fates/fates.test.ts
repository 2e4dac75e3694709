// @module-tag slow
import { expect, test } from "vitest";
import { fakeClock } from "../fake-clock.ts";
import { oneFault, storms } from "./fortunes.ts";
import type { Verdict } from "./judge.ts";
import { life } from "./life.ts";

const first = Number(process.env["FATES_SEED"] ?? 1);
const count = Number(process.env["FATES"] ?? 100);

async function each(fate: (seed: number) => Promise<Verdict>, seeds = count): Promise<string> {
  fakeClock();
  const bad: string[] = [];
  for (let seed = first; seed < first + seeds; seed += 1) {
    const { wrong, log } = await fate(seed);
    if (wrong.length > 0) bad.push(`seed ${seed}: ${wrong.join("; ")}`, ...(bad.length === 0 ? log : []));
  }
  return bad.join("\n");
}

test("one call in the time of a lease may meet anything, and no job loses an attempt or a handler", async () => {
  expect(await each((seed) => life(seed, oneFault))).toBe("");
});

test("in storms no handler runs on past its lease, and what calm between them leaves time for is done", async () => {
  expect(await each((seed) => life(seed, storms))).toBe("");
});

test("a worker that stops leaves nothing held, whatever one of its calls meets", async () => {
  expect(await each((seed) => life(seed, (world) => oneFault(world, true)))).toBe("");
});
