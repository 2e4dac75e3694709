import { createLogger, createQueue, type MemorySignal } from "@atlasqueue/core";
import { testDatabase, uniqueKeys } from "@atlasqueue/harness";
import { onTestFinished } from "vitest";
import { readWorkerConfig } from "../src/config.ts";
import { startWorkerProcesses } from "../src/fleet/start-workers.ts";

/** Worker processes on a database of their own, which end with the test, and the lines of their log. */
export async function workerProcesses(given: Record<string, string>, signal?: MemorySignal) {
  const own = await testDatabase();
  const { jobsKey, dlqKey } = uniqueKeys();
  const servers = { DATABASE_URL: own.url, JOB_QUEUE_KEY: jobsKey, DLQ_KEY: dlqKey };
  const settings = { ...servers, WORKER_SHUTDOWN_SECONDS: "1", WORKER_METRICS_PORT: "0", ...given };
  const lines: string[] = [];
  const logger = createLogger("info", "test", { write: (line) => void lines.push(line) });
  const queue = createQueue({ databaseUrl: own.url });
  const env = { ...process.env, REDIS_URL: undefined, ...settings };
  const workers = await startWorkerProcesses(readWorkerConfig(settings), env, { logger, signal });
  onTestFinished(async () => {
    await workers.stop();
    await queue.close();
    await own.drop();
  });
  return { sql: own.database.sql, queue, lines };
}
