import { queueLimits } from "@atlasqueue/contract";
import { recordEvents, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setLimits } from "../limits/set.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { createTurnsChanger } from "./change.ts";

const main = { tenant: "default", queue: "default" };
let own: TestDatabase;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());

test("of many changes of a queue at once two are made at most, and the last one counts", async () => {
  const signal = memorySignal();
  const made: boolean[] = [];
  let under_way = 0;
  let most = 0;
  const counting = {
    ...signal,
    async setTurns(...[queue, in_turns]: Parameters<typeof signal.setTurns>) {
      made.push(in_turns);
      most = Math.max(most, (under_way += 1));
      await signal.setTurns(queue, in_turns);
      under_way -= 1;
    },
  };
  const deps = { database: own.database, observe: recordEvents().observe, signal: counting };
  await setLimits(deps, main, queueLimits.parse({}));
  const changeTurns = createTurnsChanger(deps);
  await Promise.all(Array.from({ length: 100 }, (_, at) => changeTurns(main, at % 2 === 0 ? "end" : "begin")));
  expect({ made, most }).toEqual({ made: [false, true], most: 1 });
  expect(await signal.look(main)).toMatchObject({ in_turns: true });
});
