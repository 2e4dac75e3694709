// @module-tag nightly
import { fileURLToPath } from "node:url";
import { eventually, redisUrl } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { workerProcesses } from "../../test/worker-processes.ts";

const handlers = fileURLToPath(new URL("../../test/blocking-handlers.ts", import.meta.url));

test(
  "a worker process that a handler blocks is killed and restarted, and the job has its next attempt",
  { timeout: 180_000 },
  async () => {
    const times = { WORKER_LEASE_SECONDS: "5", WORKER_HANG_SECONDS: "8" };
    const { sql, queue, lines } = await workerProcesses({ REDIS_URL: redisUrl(), WORKER_HANDLERS: handlers, ...times });
    const { id } = await queue.submit({ type: "blocks-at-first", max_attempts: 10 });
    const jobs = () => sql`SELECT status FROM atlasqueue.jobs WHERE id = ${id}`;
    const done = [{ status: "succeeded" }];
    await eventually(async () => expect(await jobs()).toEqual(done), { timeout_ms: 120_000 });
    expect(lines.join("")).toContain('"event":"process_hung"');
  },
);
