import { expect, test } from "vitest";
import { eventually, forFile, inTime } from "@atlasqueue/harness";
import { startSystem } from "./system.ts";

const lease_seconds = 1;
const env = { WORKER_LEASE_SECONDS: String(lease_seconds) };
const system = forFile(startSystem);

test("a worker killed in mid-handler: its job succeeds on another within the lease and two seconds", async () => {
  const [api, first] = await Promise.all([system.startApi(), system.startWorker(env)]);
  const workers = [first];
  await inTime(2_000, async () => {
    // Both are already up, so that starting a process does not count as the sweep's lateness.
    workers.push(await system.startWorker(env));
    const id = await api.create({ type: "demo.sleep", payload: { ms: 2_000 } });
    const running = await eventually(async () => {
      const job = await api.read(id);
      expect(job).toMatchObject({ status: "running" });
      return job;
    });
    const isVictim = ({ pid }: { pid: number }) => String(running["worker_id"]).includes(`-${pid}-`);
    const [victim] = workers.splice(workers.findIndex(isVictim), 1);
    victim?.kill("SIGKILL");
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
  const api = await system.startApi();
  const id = await api.create({ type: "demo.sleep", payload: { ms: 60_000 }, max_attempts: 2 });
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const victim = await system.startWorker(env);
    await victim.waitForLine(new RegExp(`"event":"handler_start".*${id}`), 15_000);
    victim.kill("SIGKILL");
    await victim.waitForExit();
  }
  await system.startWorker(env);
  await eventually(async () => {
    expect(await api.read(id)).toMatchObject({ status: "dead", attempts: 2, dead_reason: "lease_lost" });
    expect(await system.redis.lrange("atlasqueue:dlq", 0, -1)).toEqual([id]);
  });
  const outcomes = await system.sql`SELECT outcome FROM atlasqueue.job_attempts WHERE job_id = ${id}`;
  expect(outcomes.map((row) => row["outcome"])).toEqual(["lost", "lost"]);
});
