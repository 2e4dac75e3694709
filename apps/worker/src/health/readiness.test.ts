import { memorySignal } from "@atlasqueue/core";
import { testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { workerReadiness } from "./readiness.ts";

const own = forFile(testDatabase);

test.each([
  [
    "whose consumer is stuck",
    { stuckForMs: () => 20_000, withoutProcessForMs: () => 0 },
    { consumer: "stuck", processes: "up" },
    "no job was taken for 20 s, though there was room",
  ],
  [
    "that cannot start a process for isolated handlers",
    { stuckForMs: () => 0, withoutProcessForMs: () => 20_000 },
    { consumer: "up", processes: "not starting" },
    "no process could be started for isolated handlers for 20 s",
  ],
])("a worker %s is not ready", async (_what, worker, checks, reason) => {
  const ask = workerReadiness([{ database: own.database, signal: memorySignal() }], () => worker);
  expect(await ask()).toEqual({
    ready: false,
    body: {
      status: "unavailable",
      checks: { postgres: "up", redis: "up", ...checks },
      connections: own.database.connections(),
      reason,
    },
  });
});
