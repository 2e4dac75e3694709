import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { inParallel, startSystem } from "./system.ts";

const limit = 7;
const jobs = 300;
const processes = 4;
const kills = 3;

const system = forFile(startSystem);
beforeAll(async () => {
  await system.sql`CREATE TABLE counters (counter text PRIMARY KEY, n int NOT NULL)`;
  await system.sql`
    CREATE TABLE runs (id bigserial PRIMARY KEY, counter text, job_id uuid, attempt int, started_at timestamptz,
                       ended_at timestamptz, counted boolean)`;
});

const startWorker = () =>
  system.startWorker({
    WORKER_HANDLERS: fileURLToPath(new URL("../test/group-handlers.ts", import.meta.url)),
    WORKER_CONCURRENCY: "10",
    WORKER_LEASE_SECONDS: "1",
    LOG_LEVEL: "WARNING",
  });
const count = async (text: string) => Number((await system.sql.unsafe(text))[0]?.["n"]);

test("a limit of 7 never becomes 8, even when workers are killed in the middle of their jobs", async () => {
  const api = await system.startApi({ LOG_LEVEL: "WARNING" });
  const limited = await fetch(`${api.url}/v1/queues/default/limits`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ concurrency: limit }),
  });
  expect(limited.status).toBe(200);
  const workers = await Promise.all(Array.from({ length: processes }, startWorker));
  const payload = { counter: "c", failures: 0, pause_ms: 20 };
  await inParallel(jobs, 20, () => api.create({ type: "group.step", payload }));

  let most = 0;
  const seen: Promise<void> = (async () => {
    while ((await count("SELECT count(*)::int AS n FROM atlasqueue.jobs WHERE status <> 'succeeded'")) > 0)
      most = Math.max(most, await count("SELECT count(*)::int AS n FROM atlasqueue.jobs WHERE status = 'running'"));
  })();
  for (let kill = 0; kill < kills; kill += 1) {
    const enough = ((kill + 1) / (kills + 1)) * jobs;
    await eventually(async () => expect(await count("SELECT count(*)::int AS n FROM runs")).toBeGreaterThan(enough), {
      timeout_ms: 60_000,
    });
    workers[kill]?.kill("SIGKILL");
    workers[kill] = await startWorker();
  }
  await seen;
  expect(most).toBe(limit);

  // By the handlers' own records: how many were at work when each of them began.
  const at_work = await count(`
    SELECT max(n)::int AS n FROM (
      SELECT count(*) AS n FROM runs JOIN runs AS other
        ON other.started_at <= runs.started_at AND other.ended_at > runs.started_at
      WHERE runs.ended_at IS NOT NULL GROUP BY runs.id) AS moments`);
  expect(at_work).toBeLessThanOrEqual(limit);
  expect(await count("SELECT count(DISTINCT job_id)::int AS n FROM runs WHERE counted")).toBe(jobs);
});
