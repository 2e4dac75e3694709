import { fileURLToPath } from "node:url";
import { eventually, forFile, testDatabase } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runStart, startEnv, succeeds, type Started } from "../../test/run-start.ts";

// What a handler under `start` may do to its process without the API noticing. Signals are in the API's memory.

const handlers = fileURLToPath(new URL("../../test/fatal-handlers.ts", import.meta.url));
const database = forFile(testDatabase);
let started: Started;
beforeAll(async () => {
  started = await runStart({
    ...startEnv("unused"),
    DATABASE_URL: database.url,
    // Without redis-server, signals stay in memory.
    PATH: "/nonexistent",
    WORKER_HANDLERS: handlers,
    WORKER_LEASE_SECONDS: "2",
    WORKER_SHUTDOWN_SECONDS: "1",
    RETRY_BASE_DELAY_SECONDS: "0.1",
    RETRY_JITTER_MAX_SECONDS: "0",
  });
});
afterAll(() => started.process.stop());

const named = (event: string) => started.process.logs.filter((line) => line["event"] === event);
const isUp = async () => expect((await fetch(`${started.api_url}/livez`)).status).toBe(200);

test("the in-memory signal, not the sweep, hands a job to the worker, and the banner tells of it", async () => {
  expect(started.banner.join("\n")).toContain("using in-process notifications");
  const id = await started.submit({ type: "demo.echo", payload: { n: 1 } });
  await succeeds(started, id);
  expect(named("job_enqueued").length).toBeGreaterThan(0);
  expect(named("jobs_resignalled")).toEqual([]);
});

test.each(["throws-late", "fills-the-memory"])(
  "a handler that %s ends only the worker's process; another takes its place, and the job gets its next attempt",
  async (type) => {
    const deaths = named("process_died").length;
    const id = await started.submit({ type, max_attempts: 2 });
    await eventually(() => expect(named("process_died").length).toBeGreaterThan(deaths), { timeout_ms: 60_000 });
    await isUp();
    await eventually(async () => expect(await started.job(id)).toMatchObject({ status: "succeeded", result: 2 }), {
      timeout_ms: 60_000,
    });
  },
);

test("what a handler prints becomes a log line with its job's id", async () => {
  const id = await started.submit({ type: "prints" });
  await succeeds(started, id);
  await eventually(() =>
    expect(named("handler_output").filter((line) => line["job_id"] === id)).toMatchObject([
      { stream: "stdout", line: '{"level":"error","event":"job_dead","job_id":"forged"}' },
      { stream: "stdout", line: "no end" },
    ]),
  );
  expect(named("job_dead").filter((line) => line["job_id"] === "forged")).toEqual([]);
  const strays = named("process_output").map((line) => line["line"]);
  expect(strays).toEqual(named("process_started").map(() => "a module prints"));
});

test("a handler that blocks its loop leaves the API up, and ends with the system", { tags: ["nightly"] }, async () => {
  const id = await started.submit({ type: "blocks", max_attempts: 1 });
  await started.process.waitForLine(new RegExp(`"event":"handler_start".*${id}`));
  await isUp();
  started.process.kill("SIGTERM");
  expect(await started.process.waitForExit(90_000)).toEqual({ code: 0, signal: null });
  expect(named("process_stopped")).toMatchObject([{ signal: "SIGKILL" }]);
});
