import { fileURLToPath } from "node:url";
import { createLogger, createQueue, memorySignal } from "@atlasqueue/core";
import { eventually, redisUrl, testDatabase, uniqueKeys } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { readWorkerConfig } from "../config.ts";
import { startWorkerProcesses } from "./start-workers.ts";

const handlers = fileURLToPath(new URL("../../test/exiting-handlers.ts", import.meta.url));

test.each(["with Redis", "without Redis"])(
  "a job whose process is killed runs again within seconds, although its lease lasts an hour, %s",
  { tags: ["slow"], timeout: 90_000 },
  async (how) => {
    const own = await testDatabase();
    const { jobsKey, dlqKey } = uniqueKeys();
    const redis = how === "with Redis" ? { REDIS_URL: redisUrl() } : {};
    const settings = {
      ...redis,
      DATABASE_URL: own.url,
      JOB_QUEUE_KEY: jobsKey,
      DLQ_KEY: dlqKey,
      WORKER_HANDLERS: handlers,
      WORKER_LEASE_SECONDS: "3600",
      WORKER_SHUTDOWN_SECONDS: "1",
      WORKER_METRICS_PORT: "0",
    };
    const env = { ...process.env, REDIS_URL: undefined, ...settings };
    const lines: string[] = [];
    const logger = createLogger("info", "test", { write: (line) => void lines.push(line) });
    const queue = createQueue({ databaseUrl: own.url });
    const signal = how === "with Redis" ? undefined : memorySignal();
    const workers = await startWorkerProcesses(readWorkerConfig(settings), env, { logger, signal });
    onTestFinished(async () => {
      await workers.stop();
      await queue.close();
      await own.drop();
    });
    const { id } = await queue.submit({ type: "exits-at-first", max_attempts: 2 });
    await eventually(
      async () =>
        expect(
          await own.database.sql`SELECT status, attempts FROM atlasqueue.jobs WHERE id = ${id}`,
          lines.join(""),
        ).toEqual([{ status: "succeeded", attempts: 2 }]),
      { timeout_ms: 60_000 },
    );
    const [lost] = await own.database.sql<{ seconds: number }[]>`
      SELECT extract(epoch FROM finished_at - started_at)::float8 AS seconds FROM atlasqueue.job_attempts WHERE job_id = ${id}`;
    expect(lost?.seconds).toBeLessThan(30);
    expect(lines.filter((line) => line.includes('"event":"leases_ended"'))).toHaveLength(1);
  },
);
