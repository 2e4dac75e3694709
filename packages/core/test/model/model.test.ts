import { forFile, testDatabase, type SimulatedClock } from "@atlasqueue/harness";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/database/connect.ts";
import { acts } from "./acts/table.ts";
import { anyCommands, commandOf, type Command } from "./commands.ts";
import { examples } from "./examples.ts";
import { mutants, mutated } from "./mutants.ts";
import { connectUnderClock, emptyTables, newReal } from "./real.ts";
import { newModel } from "./state.ts";

/**
 * MODEL_SEED=7 MODEL_RUNS=5000 npx -y pnpm test:slow packages/core/test/model: another run, and a longer one. A run that
 * fails prints its seed and the shortest list of commands that fails: put that into `examples.ts`, where it stays.
 */
const seed = Number(process.env["MODEL_SEED"] ?? 20_261_122);
const runs = Number(process.env["MODEL_RUNS"] ?? 40);
/** A slow machine does fewer; when more are asked for, it takes as long as it takes. */
const ms_max = process.env["MODEL_RUNS"] ? 36_000_000 : 30_000;
const commands_max = 400;

const own = forFile(testDatabase);
let database: Database;
let clock: SimulatedClock;
/** Ahead of the ids of all jobs, which are made by this process' own clock. */
const start = Date.now() + 86_400_000;
beforeAll(async () => void ({ database, clock } = await connectUnderClock(own.url, new Date(start))));
afterAll(async () => {
  await database.close();
  await clock.stop();
});

async function run(commands: Iterable<Command>, engine = database): Promise<void> {
  await emptyTables(database.sql);
  await clock.set(new Date(start));
  const [model, real] = [newModel(start), newReal(engine, clock)];
  await fc.asyncModelRun(() => ({ model, real }), commands);
}

test.each(Object.entries(examples))("a run that failed once: %s", async (_name, written) => {
  await run(written.map(commandOf));
});

test(
  "whatever happens, in any order, the tables are what the model says",
  { tags: ["slow"], timeout: ms_max * 4 },
  async () => {
    const seen = new Map<string, number>();
    const property = fc.asyncProperty(anyCommands(commands_max), async (commands) => {
      await run(commands);
      for (const [name] of [...commands].map((command) => JSON.parse(command.toString()) as [string]))
        seen.set(name, (seen.get(name) ?? 0) + 1);
    });
    await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: ms_max, markInterruptAsFailure: false });
    const count = [...seen.values()].reduce((sum, times) => sum + times, 0);
    console.log(`the model under seed ${seed}: ${count} commands`);
    expect([...seen.keys()].toSorted()).toEqual(Object.keys(acts).toSorted());
  },
);

test.each(Object.entries(mutants))("the model finds the fault: %s", { tags: ["nightly"] }, async (_name, mutant) => {
  const engine = mutated(database, mutant);
  const property = fc.asyncProperty(anyCommands(commands_max), (commands) => run(commands, engine));
  const { failed } = await fc.check(property, { seed, numRuns: 40, endOnFailure: true });
  expect(failed).toBe(true);
});
