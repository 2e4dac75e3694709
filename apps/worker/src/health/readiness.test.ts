import { connectDatabase, memorySignal } from "@atlasqueue/core";
import { testDatabase, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
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

test("of several cells one is enough to be ready, and a cell that is down is named", async () => {
  const away = connectDatabase({ url: "postgres://127.0.0.1:1/a", connectionsMax: 1, timeoutMs: 500 });
  onTestFinished(() => away.close());
  const up = { cell: "home", database: own.database, signal: memorySignal() };
  const down = { cell: "b", database: away, signal: memorySignal() };
  const fine = { stuckForMs: () => 0, withoutProcessForMs: () => 0 };
  const degraded = { status: "degraded", cell: "b", checks: { postgres: "down" } };
  expect(await workerReadiness([up, down], () => fine)()).toMatchObject({ ready: true, body: degraded });
  expect(await workerReadiness([down, down], () => fine)()).toMatchObject({ ready: false });
  expect(await workerReadiness([up, up], () => fine)()).toMatchObject({ ready: true, body: { status: "ok" } });
});
