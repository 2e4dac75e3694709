import { recordEvents } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import type { Database } from "../database/connect.ts";
import { createLogger } from "../observe/log.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { firstPlace, jobsStep } from "./jobs-step.ts";
import { firstId, type Pruned } from "./prune.ts";

const met: Pruned = { jobs: 0, dead: [], next: firstId, met_another: true };
const some: Pruned = { jobs: 5, dead: [], next: firstId };

test("passes that meet another process one after the other, and remove nothing, say so", async () => {
  const { observe, named } = recordEvents();
  const deps = { database: {} as Database, observe, signal: memorySignal(), logger: createLogger("silent", "test") };
  const place = firstPlace();
  const pass = async (...steps: Pruned[]): Promise<unknown[]> => {
    const before = named("pruning_met_another").length;
    const pruneSome = () => Promise.resolve(steps.shift() ?? met);
    const how = { retention: { succeededHours: 1, deadHours: 1 }, removed: { jobs: 0, keys: 0 }, pruneSome, place };
    const step = jobsStep(deps, "jobs", how);
    while (await step());
    return named("pruning_met_another").slice(before);
  };
  expect(await pass(met)).toEqual([]);
  expect(await pass(met)).toMatchObject([{ part: "jobs", passes: 2 }]);
  expect(await pass(met)).toMatchObject([{ part: "jobs", passes: 3 }]);
  expect(await pass(some, met)).toEqual([]);
  expect(await pass(met)).toEqual([]);
  expect(await pass(met)).toMatchObject([{ passes: 2 }]);
});
