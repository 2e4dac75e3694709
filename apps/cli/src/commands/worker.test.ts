import { fileURLToPath } from "node:url";
import { connectDatabase, memorySignal } from "@atlasqueue/core";
import { submit } from "@atlasqueue/core/internal";
import { eventually, recordEvents, spawnProcess, submission, testDatabase } from "@atlasqueue/testing";
import { expect, onTestFinished, test } from "vitest";
import { mainFile } from "../../test/run-start.ts";

const handlers = fileURLToPath(new URL("../../test/printing-handlers.ts", import.meta.url));

test("what a handler prints in a worker that is one process becomes a log line with its job's id", async () => {
  const own = await testDatabase();
  onTestFinished(() => own.drop());
  const database = connectDatabase({ url: own.url, connectionsMax: 1, timeoutMs: 10_000 });
  const worker = await spawnProcess(mainFile, {
    args: ["worker"],
    env: {
      DATABASE_URL: own.url,
      WORKER_METRICS_PORT: "0",
      WORKER_HANDLERS: handlers,
    },
  });
  const deps = { database, observe: recordEvents().observe, signal: memorySignal() };
  const [outcome] = await submit(deps, [submission({ type: "prints" })], { idempotency_ttl_seconds: 60 });
  const id = outcome && "job" in outcome ? outcome.job.id : "";
  const named = (event: string) => worker.logs.filter((line) => line["event"] === event);
  await eventually(
    () =>
      expect(named("handler_output")).toMatchObject([
        { job_id: id, stream: "stdout", line: '{"level":"error","event":"job_dead","job_id":"forged"}' },
        { job_id: id, stream: "stdout", line: "no end" },
      ]),
    { timeout_ms: 30_000 },
  );
  expect(named("job_dead")).toEqual([]);
  await worker.stop();
  await database.close();
});
