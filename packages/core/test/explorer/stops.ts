import { testDatabase, type TestDatabase } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { holdsAfter, holdsNow } from "./holds.ts";
import type { Move } from "./moves/move.ts";
import { meet, moves } from "./moves/table.ts";
import { insideStatements, type Inside } from "./inside.ts";
import { stopAt, stopInside, stopsOf, type Pairs, type Stop } from "./pairs.ts";
import { worldMaker, type World } from "./world.ts";

/**
 * EXPLORE=all npx -y pnpm test:slow packages/core/test/explorer: each pair of moves, with one stopped at each of its steps, and inside each of its statements.
 * Otherwise some of them for each move, drawn by EXPLORE_SEED, and at least one at each of its steps.
 */
const everything = process.env["EXPLORE"] === "all";
/** Of them, every so many: `EXPLORE_PART=3/20` is the third of twenty parts, which all have the same number. */
const [part_number = 1, parts_in_all = 1] = (process.env["EXPLORE_PART"] ?? "1/1").split("/").map(Number);
const seed = Number(process.env["EXPLORE_SEED"] ?? 20_261_122);
/** And more of a move that has more steps than this. */
const drawn_of_move = 6;
const drawn_inside = 2;

type Case = { other: string; beside: Move; stop: Stop };

/** The moves of one of several files, which run side by side. */
export function testStopped(part: number, parts: number): void {
  let own: TestDatabase;
  let pairs: Pairs<World>;
  let inside: Inside;
  beforeAll(async () => {
    own = await testDatabase();
    const scene = await worldMaker(own.database);
    pairs = { database: own.database, scene, holdsNow, holdsAfter };
    inside = await insideStatements(own);
  });
  afterAll(async () => {
    await inside.end();
    await own.drop();
  });

  const mine = Object.entries(moves).filter((_, at) => at % parts === part);
  for (const [name, stopped] of mine) {
    /** Each of these steps with each of the moves that it may meet. */
    const cases = (stops: readonly Stop[]): Case[] =>
      Object.entries(moves)
        .filter(([, beside]) => meet(stopped, beside))
        .flatMap(([other, beside]) => stops.map((stop) => ({ other, beside, stop })));
    const runAll = async (all: readonly Case[], run: (one: Case) => Promise<unknown>, drawn_min: number) => {
      const faults: string[] = [];
      const chosen = everything
        ? all.filter((_, at) => at % parts_in_all === part_number - 1)
        : drawn(all, name, drawn_min);
      const begun = performance.now();
      for (const one of chosen)
        await run(one).catch((error: unknown) => {
          faults.push(`stopped at step ${one.stop.number} (${one.stop.kind}), beside ${one.other}: ${String(error)}`);
        });
      const seconds = Math.round((performance.now() - begun) / 1_000);
      if (everything) console.log(`${name}: ${chosen.length} of ${all.length} pairs in ${seconds} s`);
      expect(faults, `${name}, with the seed ${seed}`).toEqual([]);
    };

    let known: Promise<readonly Stop[]> | undefined;
    /** They are the same each time. */
    const stopsOfMove = () => (known ??= stopsOf(pairs, stopped.run));

    test(`${name}, stopped at each of its steps while another move runs whole`, { timeout: 1_800_000 }, async () => {
      const stops = await stopsOfMove();
      // Before its first and after its last it makes no pair.
      const run = (one: Case) => stopAt(pairs, { ...one, stopped: stopped.run });
      await runAll(cases(stops.slice(1, -1)), run, drawn_of_move);
    });

    test(
      `${name}, stopped inside each of its statements while another move runs whole`,
      { timeout: 1_800_000 },
      async () => {
        const stops = await stopsOfMove();
        const run = (one: Case) => stopInside(pairs, inside, { ...one, stopped: stopped.run });
        await runAll(cases(stops.filter(({ kind }) => kind === "statement")), run, drawn_inside);
      },
    );
  }
}

/** Some of all cases, the same ones for a seed: each stop comes once before any comes twice. */
function drawn<T extends { stop: object }>(cases: readonly T[], name: string, drawn_min: number): T[] {
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
    .slice(0, Math.max(drawn_min, times.size))
    .map(({ one }) => one);
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 2_166_136_261;
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return Math.imul(value ^ (value >>> 15), 2_246_822_519) >>> 0;
}
