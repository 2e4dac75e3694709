import { fileURLToPath } from "node:url";
import { memorySignal } from "@atlasqueue/core";
import { eventually, redisUrl } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { workerProcesses } from "../../test/worker-processes.ts";

const handlers = fileURLToPath(new URL("../../test/exiting-handlers.ts", import.meta.url));

/** Of its first attempt, whose process is killed. */
async function runsAgain({ sql, queue, lines }: Awaited<ReturnType<typeof workerProcesses>>): Promise<void> {
  const { id } = await queue.submit({ type: "exits-at-first", max_attempts: 2 });
  const jobs = () => sql`SELECT status, attempts FROM atlasqueue.jobs WHERE id = ${id}`;
  const done = [{ status: "succeeded", attempts: 2 }];
  await eventually(async () => expect(await jobs(), lines.join("")).toEqual(done), { timeout_ms: 60_000 });
  const [lost] = await sql<{ seconds: number }[]>`
    SELECT extract(epoch FROM finished_at - started_at)::float8 AS seconds FROM atlasqueue.job_attempts WHERE job_id = ${id}`;
  expect(lost?.seconds).toBeLessThan(30);
  expect(lines.filter((line) => line.includes('"event":"leases_ended"'))).toHaveLength(1);
}
const settings = { WORKER_HANDLERS: handlers, WORKER_LEASE_SECONDS: "3600" };

const name = "a job whose process is killed runs again within seconds, although its lease lasts an hour";
test(name, { tags: ["slow"], timeout: 90_000 }, async () => {
  await runsAgain(await workerProcesses({ ...settings, REDIS_URL: redisUrl() }));
});

test(`${name}, without Redis`, { tags: ["nightly"], timeout: 90_000 }, async () => {
  await runsAgain(await workerProcesses(settings, memorySignal()));
});
