// @module-tag nightly
import { fileURLToPath } from "node:url";
import { createLogger, createQueue } from "@atlasqueue/core";
import { eventually, redisUrl, testDatabase, uniqueKeys } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { readWorkerConfig } from "../config.ts";
import { startWorkerProcesses } from "./start-workers.ts";

const handlers = fileURLToPath(new URL("../../test/blocking-handlers.ts", import.meta.url));

test(
  "a worker process that a handler blocks is killed and restarted, and the job has its next attempt",
  { timeout: 180_000 },
  async () => {
    const own = await testDatabase();
    const { jobsKey, dlqKey } = uniqueKeys();
    const settings = {
      DATABASE_URL: own.url,
      REDIS_URL: redisUrl(),
      JOB_QUEUE_KEY: jobsKey,
      DLQ_KEY: dlqKey,
      WORKER_HANDLERS: handlers,
      WORKER_LEASE_SECONDS: "5",
      WORKER_HANG_SECONDS: "8",
      WORKER_SHUTDOWN_SECONDS: "1",
      WORKER_METRICS_PORT: "0",
    };
    const events: string[] = [];
    const logger = createLogger("info", "test", { write: (line) => void events.push(JSON.parse(line).event) });
    const keys = { jobs: jobsKey, deadLetters: dlqKey };
    const queue = createQueue({ databaseUrl: own.url, redisUrl: redisUrl(), keys });
    const workers = await startWorkerProcesses(readWorkerConfig(settings), { ...process.env, ...settings }, { logger });
    onTestFinished(async () => {
      await workers.stop();
      await queue.close();
      await own.drop();
    });
    const { id } = await queue.submit({ type: "blocks-at-first", max_attempts: 10 });
    await eventually(
      async () =>
        expect(await own.database.sql`SELECT status FROM atlasqueue.jobs WHERE id = ${id}`).toEqual([
          { status: "succeeded" },
        ]),
      { timeout_ms: 120_000 },
    );
    expect(events).toContain("process_hung");
  },
);
