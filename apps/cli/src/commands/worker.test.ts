import { fileURLToPath } from "node:url";
import { eventually, otherOwner, spawnProcess, submission, submit, testCore, testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { mainFile, serversOf } from "../../test/run-start.ts";

const handlers = fileURLToPath(new URL("../../test/printing-handlers.ts", import.meta.url));

test("what a handler prints in a worker that is one process becomes a log line with its job's id", async () => {
  const own = await testCore();
  onTestFinished(() => own.drop());
  const worker = await spawnProcess(mainFile, {
    args: ["worker"],
    env: { DATABASE_URL: own.url, WORKER_METRICS_PORT: "0", WORKER_HANDLERS: handlers },
  });
  const [outcome] = await submit(own, [submission({ type: "prints" })], { idempotency_ttl_seconds: 60 });
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
});

test("with another database on its Redis a worker says so, and ends", async () => {
  const own = await testDatabase();
  const servers = serversOf(own.url);
  const other = await otherOwner(servers.JOB_QUEUE_KEY);
  onTestFinished(async () => {
    other.leave();
    await own.drop();
  });
  const env = { ...servers, WORKER_METRICS_PORT: "0" };
  const worker = await spawnProcess(mainFile, { args: ["worker"], env });
  await worker.waitForLine("another database uses this Redis");
  expect(await worker.waitForExit()).toMatchObject({ code: 1 });
});
