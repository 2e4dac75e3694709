import { testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { holdsAfter, holdsNow } from "./holds.ts";
import { meet, moves } from "./moves/table.ts";
import { stopAt, stopsOf, type Pairs } from "./pairs.ts";
import { worldMaker, type World } from "./world.ts";

/**
 * EXPLORE=all npx -y pnpm test packages/core/test/explorer: each pair of moves, with one stopped at each of its steps.
 * Otherwise some of them for each move, drawn by EXPLORE_SEED, and at least one at each of its steps.
 */
const everything = process.env["EXPLORE"] === "all";
/** Of them, every so many: `EXPLORE_PART=3/20` is the third of twenty parts, which all have the same number. */
const [part_number = 1, parts_in_all = 1] = (process.env["EXPLORE_PART"] ?? "1/1").split("/").map(Number);
const seed = Number(process.env["EXPLORE_SEED"] ?? 20_261_122);
/** And more of a move that has more steps than this. */
const drawn_of_move = 12;

/** The moves of one of several files, which run side by side. */
export function testStopped(part: number, parts: number): void {
  let own: TestDatabase;
  let pairs: Pairs<World>;
  beforeAll(async () => {
    own = await testDatabase();
    const scene = await worldMaker(own.database);
    pairs = { database: own.database, scene, holdsNow, holdsAfter };
  });
  afterAll(() => own.drop());

  const mine = Object.entries(moves).filter((_, at) => at % parts === part);
  for (const [name, stopped] of mine)
    test(`${name}, stopped at each of its steps while another move runs whole`, { timeout: 1_800_000 }, async () => {
      const stops = await stopsOf(pairs, stopped.run);
      const cases = Object.entries(moves)
        .filter(([, beside]) => meet(stopped, beside))
        .flatMap(([other, beside]) => stops.map((stop) => ({ other, beside, stop })));
      const faults: string[] = [];
      const chosen = everything ? cases.filter((_, at) => at % parts_in_all === part_number - 1) : drawn(cases, name);
      const begun = performance.now();
      for (const { other, beside, stop } of chosen)
        await stopAt(pairs, { stopped: stopped.run, stop, beside }).catch((error: unknown) => {
          faults.push(`stopped at step ${stop.number} (${stop.kind}), beside ${other}: ${String(error)}`);
        });
      const seconds = Math.round((performance.now() - begun) / 1_000);
      if (everything) console.log(`${name}: ${chosen.length} of ${cases.length} pairs in ${seconds} s`);
      expect(faults, `${name}, with the seed ${seed}`).toEqual([]);
    });
}

/** Some of all cases, the same ones for a seed: each stop comes once before any comes twice. */
function drawn<T extends { stop: object }>(cases: readonly T[], name: string): T[] {
  const times = new Map<object, number>();
  return cases
    .map((one, at) => ({ one, at: hash(`${seed} ${name} ${at}`) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => {
      const turn = times.get(one.stop) ?? 0;
      times.set(one.stop, turn + 1);
      return { one, turn };
    })
    .toSorted((a, b) => a.turn - b.turn)
    .slice(0, Math.max(drawn_of_move, times.size))
    .map(({ one }) => one);
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 2_166_136_261;
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return Math.imul(value ^ (value >>> 15), 2_246_822_519) >>> 0;
}
