import { testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, test } from "vitest";
import { acts, actsOnOne, batches, singles } from "./moves.ts";
import { stopAt, stopsOf, type Move, type Pairs } from "./pairs.ts";
import { holdsAfter, holdsNow } from "./world-holds.ts";
import { worldMaker, type World } from "./world.ts";

/** A test for each of the moves: it is stopped at each of its steps while each move there is runs whole. */
export function testStopped(moves: Readonly<Record<string, Move<World>>>): void {
  let own: TestDatabase;
  let pairs: Pairs<World>;
  beforeAll(async () => {
    own = await testDatabase();
    const scene = await worldMaker(own.database);
    // The first step is before anything has happened.
    pairs = { database: own.database, scene, stopsAt: (_step, number) => number > 1, holdsNow, holdsAfter };
  });
  afterAll(() => own.drop());

  for (const [name, stopped] of Object.entries(moves))
    test(`${name}, stopped at each of its steps while each other move runs whole`, async () => {
      const stops = await stopsOf(pairs, stopped);
      for (const [other, beside] of Object.entries({ ...batches, ...singles, ...acts, ...actsOnOne }))
        for (const at of stops)
          try {
            await stopAt(pairs, { stopped, at, beside, may_wait: other in singles || other in actsOnOne });
          } catch (error) {
            throw new Error(`${name}, stopped at step ${at}, beside ${other}: ${String(error)}`, { cause: error });
          }
    }, 300_000);
}
