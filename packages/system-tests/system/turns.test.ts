// @module-tag slow
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "@atlasqueue/harness";
import { startSystem, type Api, type System } from "./system.ts";

// Groups that take turns, with the programs as an operator runs them: whatever is killed or lost meanwhile, a group with
// ten jobs does not wait for one with thousands.

const crowd = 3_000;
const few = 10;

let system: System;
let api: Api;
beforeAll(async () => {
  system = await startSystem();
  await system.sql`CREATE TABLE counters (counter text PRIMARY KEY, n int NOT NULL)`;
  await system.sql`
    CREATE TABLE runs (id bigserial PRIMARY KEY, counter text, job_id uuid, attempt int, started_at timestamptz,
                       ended_at timestamptz, counted boolean)`;
  api = await system.startApi({ LOG_LEVEL: "WARNING" });
});
afterAll(() => system.stop());

const send = async (method: string, path: string, body: unknown): Promise<void> => {
  const answer = await fetch(`${api.url}${path}`, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.ok, await answer.clone().text()).toBe(true);
};
const startWorker = () =>
  system.startWorker({
    WORKER_HANDLERS: fileURLToPath(new URL("../test/group-handlers.ts", import.meta.url)),
    WORKER_CONCURRENCY: "4",
    WORKER_LEASE_SECONDS: "2",
    LOG_LEVEL: "WARNING",
  });
let batches = 0;
const submit = async (counter: string, group: string | undefined, count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1_000) {
    const batch = (batches += 1);
    const jobs = Array.from({ length: Math.min(left, 1_000) }, (_, n) => ({
      type: "group.step",
      payload: { counter, failures: 0, pause_ms: 5 },
      idempotency_key: `${counter}-${batch}-${n}`,
      ...(group !== undefined && { group }),
    }));
    await send("POST", "/v1/jobs/batch", { jobs });
  }
};
const runsOf = async (counter: string) =>
  Number((await system.sql`SELECT count(*)::int AS n FROM runs WHERE counter = ${counter}`)[0]?.["n"]);
const someRan = (counter: string, least: number) =>
  eventually(async () => expect(await runsOf(counter)).toBeGreaterThanOrEqual(least), { timeout_ms: 60_000 });

/** Starts of the crowd between the submission of the few and the start of the last of them. */
async function overtakenBy(counter: string): Promise<number> {
  await someRan(counter, few);
  const [row] = await system.sql`
    SELECT count(*)::int AS n FROM runs, (SELECT min(created_at) AS at FROM atlasqueue.jobs WHERE payload->>'counter' = ${counter}) AS began,
           (SELECT max(started_at) AS at FROM runs WHERE counter = ${counter}) AS last
    WHERE runs.counter = 'crowd' AND runs.started_at BETWEEN began.at AND last.at`;
  return Number(row?.["n"]);
}

test("ten jobs of a group start among thousands of another, before and after Redis is emptied and a worker killed", async () => {
  await send("PUT", "/v1/queues/default/limits", { fair_by: "group", group_concurrency: 100 });
  await submit("crowd", "big", crowd / 2);
  await submit("crowd", undefined, crowd / 2);
  const worker = await startWorker();
  await someRan("crowd", 20);

  // Two others take turns with it: while its ten start, there are about twenty of theirs, and those already begun.
  await submit("first", "small", few);
  expect(await overtakenBy("first")).toBeLessThan(200);

  await system.redis.flushall();
  worker.kill("SIGKILL");
  await submit("second", "another", few);
  await startWorker();
  expect(await overtakenBy("second")).toBeLessThan(200);
  expect(await runsOf("crowd")).toBeLessThan(crowd);
});
