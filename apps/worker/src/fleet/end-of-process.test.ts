import { fileURLToPath } from "node:url";
import { memorySignal } from "@atlasqueue/core";
import { eventually, redisUrl } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { workerProcesses } from "../../test/worker-processes.ts";

const handlers = fileURLToPath(new URL("../../test/exiting-handlers.ts", import.meta.url));

test.each(["with Redis", "without Redis"])(
  "a job whose process is killed runs again within seconds, although its lease lasts an hour, %s",
  { tags: ["slow"], timeout: 90_000 },
  async (how) => {
    const settings = { WORKER_HANDLERS: handlers, WORKER_LEASE_SECONDS: "3600" };
    const { sql, queue, lines } = await (how === "with Redis"
      ? workerProcesses({ ...settings, REDIS_URL: redisUrl() })
      : workerProcesses(settings, memorySignal()));
    const { id } = await queue.submit({ type: "exits-at-first", max_attempts: 2 });
    const jobs = () => sql`SELECT status, attempts FROM atlasqueue.jobs WHERE id = ${id}`;
    const done = [{ status: "succeeded", attempts: 2 }];
    await eventually(async () => expect(await jobs(), lines.join("")).toEqual(done), { timeout_ms: 60_000 });
    const [lost] = await sql<{ seconds: number }[]>`
      SELECT extract(epoch FROM finished_at - started_at)::float8 AS seconds FROM atlasqueue.job_attempts WHERE job_id = ${id}`;
    expect(lost?.seconds).toBeLessThan(30);
    expect(lines.filter((line) => line.includes('"event":"leases_ended"'))).toHaveLength(1);
  },
);
