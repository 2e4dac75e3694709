import { expect, test } from "vitest";
import { eventually, forFile, inTime, type SpawnedProcess } from "@atlasqueue/harness";
import { startSystem, type Api } from "./system.ts";

const lease_seconds = 1;
const env = { WORKER_LEASE_SECONDS: String(lease_seconds) };
const system = forFile(startSystem);

/** Kills the worker that runs this attempt of a job, and takes it out of the list. */
async function killWorker(api: Api, id: string, workers: SpawnedProcess[], attempts = 1): Promise<void> {
  const running = await eventually(async () => {
    const job = await api.read(id);
    expect(job).toMatchObject({ status: "running", attempts });
    return job;
  });
  const at = workers.findIndex(({ pid }) => String(running["worker_id"]).includes(`-${pid}-`));
  const [victim] = workers.splice(at, 1);
  victim?.kill("SIGKILL");
}

test("a worker killed in mid-handler: its job succeeds on another within the lease and two seconds", async () => {
  const [api, first] = await Promise.all([system.startApi(), system.startWorker(env)]);
  const workers = [first];
  await inTime(2_000, async () => {
    // Both are already up, so that starting a process does not count as the sweep's lateness.
    workers.push(await system.startWorker(env));
    const id = await api.create({ type: "demo.sleep", payload: { ms: 2_000 } });
    await killWorker(api, id, workers);
    await workers[0]?.waitForLine(new RegExp(`"event":"handler_start".*${id}`));
    // By the database's clock, so that the job's own time does not count as the sweep's lateness.
    const [late] = await system.sql<{ ms: number }[]>`
      SELECT 1000 * extract(epoch FROM jobs.started_at - (lost.started_at + make_interval(secs => ${lease_seconds})))::float8 AS ms
      FROM atlasqueue.jobs JOIN atlasqueue.job_attempts AS lost ON lost.job_id = jobs.id WHERE jobs.id = ${id}`;
    await eventually(async () => expect(await api.read(id)).toMatchObject({ status: "succeeded", attempts: 2 }));
    return late?.ms ?? Infinity;
  });
}, 180_000);

test("a job that kills every worker is dead at max_attempts, and once in the list of dead letters", async () => {
  const workers = Promise.all([1, 2, 3].map(() => system.startWorker(env)));
  const [api, started] = await Promise.all([system.startApi(), workers]);
  const id = await api.create({ type: "demo.sleep", payload: { ms: 60_000 }, max_attempts: 2 });
  for (const attempts of [1, 2]) await killWorker(api, id, started, attempts);
  await eventually(async () => {
    expect(await api.read(id)).toMatchObject({ status: "dead", attempts: 2, dead_reason: "lease_lost" });
    expect(await system.redis.lrange("atlasqueue:dlq", 0, -1)).toEqual([id]);
  });
  const outcomes = await system.sql`SELECT outcome FROM atlasqueue.job_attempts WHERE job_id = ${id}`;
  expect(outcomes.map((row) => row["outcome"])).toEqual(["lost", "lost"]);
});
