import { testDatabase, type SimulatedClock, type TestDatabase } from "@atlasqueue/testing";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/database/connect.ts";
import { acts } from "./acts.ts";
import { anyCommands, commandOf, type Command } from "./commands.ts";
import { examples } from "./examples.ts";
import { connectUnderClock, emptyTables, newReal } from "./real.ts";
import { newModel } from "./state.ts";

/**
 * MODEL_SEED=7 MODEL_RUNS=5000 npx -y pnpm test packages/core/test/model: another run, and a longer one. A failed run prints the
 * shortest list of commands that fails: put it into `examples.ts`, where it stays.
 */
const seed = Number(process.env["MODEL_SEED"] ?? 20_261_122);
const runs = Number(process.env["MODEL_RUNS"] ?? 250);
/** A slow machine does fewer; when more are asked for, it takes as long as it takes. */
const ms_max = process.env["MODEL_RUNS"] ? 36_000_000 : 45_000;
const commands_max = 60;

let own: TestDatabase;
let database: Database;
let clock: SimulatedClock;
/** Ahead of the ids of all jobs, which are made by the process' own clock. */
const start = Date.now() + 86_400_000;
beforeAll(async () => {
  own = await testDatabase();
  ({ database, clock } = await connectUnderClock(own.url, new Date(start)));
});
afterAll(async () => {
  await database.close();
  await clock.stop();
  await own.drop();
});

let commands_run = 0;
async function run(commands: Iterable<Command>): Promise<void> {
  await emptyTables(database.sql);
  await clock.set(new Date(start));
  const model = newModel(start);
  const real = newReal(database, clock);
  const counted = function* () {
    for (const command of commands) {
      yield command;
      commands_run += 1;
    }
  };
  await fc.asyncModelRun(() => ({ model, real }), counted() as never);
}

test.each(Object.entries(examples))("a run that failed once: %s", async (_name, written) => {
  await run(written.map(commandOf));
});

test("whatever happens, in any order, the tables are what the model says", { timeout: ms_max * 4 }, async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyCommands(commands_max), async (commands) => {
      await run(commands);
      for (const command of commands) seen.add(JSON.parse(command.toString())[0]);
    }),
    { seed, numRuns: runs, interruptAfterTimeLimit: ms_max, markInterruptAsFailure: false, verbose: 1 },
  );
  console.log(`the model under seed ${seed}: ${commands_run} commands`);
  expect([...seen].toSorted()).toEqual(Object.keys(acts).toSorted());
});
