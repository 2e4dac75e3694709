// @module-tag nightly
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually, inTime, type SpawnedProcess, forFile } from "@atlasqueue/harness";
import { ack, createMany, lease, post } from "./remote-client.ts";
import { startSystem, type Api } from "./system.ts";

const system = forFile(startSystem);
beforeEach(async () => {
  await system.sql`TRUNCATE atlasqueue.jobs, atlasqueue.claims`;
  await system.redis.flushall();
});
afterEach(async () => {
  await system.servers.redis.restart();
  await eventually(async () => expect(await system.redis.ping()).toBe("PONG"));
});

const quiet = { LOG_LEVEL: "error" };
const isListening = () =>
  eventually(async () => expect(String(await system.redis.client("LIST"))).toContain("cmd=blpop"));
const waits = (api: Api, count: number) =>
  Array.from({ length: count }, () => {
    const call = lease(api.url, { wait_seconds: 30 });
    call.catch(() => {});
    return call;
  });

test("Redis goes while calls wait: jobs are still leased, and by the signal again once it is back", async () => {
  const api = await system.startApi(quiet);
  const calls = waits(api, 20);
  await isListening();
  await system.servers.redis.stop();
  const ids = await createMany(api.url, 20);
  const held = (await Promise.all(calls)).flat();
  expect(held.map(({ job }) => job.id).toSorted()).toEqual(ids.toSorted());
  for (const one of held) expect((await ack(api.url, one)).status).toBe(200);

  const during = waits(api, 5);
  await system.servers.redis.restart();
  await isListening();
  const more = await createMany(api.url, 5);
  expect(
    (await Promise.all(during))
      .flat()
      .map(({ job }) => job.id)
      .toSorted(),
  ).toEqual(more.toSorted());
});

test("Redis is flushed while calls wait: they are woken by the next job, and lost signals are found by the sweep", async () => {
  const api = await system.startApi(quiet);
  await system.startWorker({ ...quiet, WORKER_QUEUES: "local" });
  await createMany(api.url, 10);
  await system.redis.flushall();
  const calls = waits(api, 11);
  await isListening();
  await createMany(api.url, 1);
  expect((await Promise.all(calls)).flat()).toHaveLength(11);
});

test("Postgres goes while calls wait: those that need it get 503 within two seconds, the others their jobs later", async () => {
  const api = await system.startApi(quiet);
  await system.startWorker({ ...quiet, WORKER_QUEUES: "local" });
  const [id = ""] = await createMany(api.url, 1, { queue: "held" });
  const [held] = await lease(api.url, { queue: "held" });
  if (!held) throw new Error("nothing was leased");
  const calls = waits(api, 20);
  await isListening();
  await system.servers.postgres.stop();
  // A signal whose job cannot be claimed now: only the first in line hears of it.
  await system.redis.lpush("atlasqueue:jobs", id);
  await inTime(2_000, async () => {
    const answers = await Promise.all([
      post(api.url, `/jobs/${id}/ack`, { lease_token: held.lease_token }),
      post(api.url, `/jobs/${id}/nack`, { lease_token: held.lease_token, error: "x" }),
      post(api.url, `/jobs/${id}/heartbeat`, { lease_token: held.lease_token }),
      post(api.url, "/leases/settle", { acks: [{ id, lease_token: held.lease_token }] }),
      post(api.url, "/jobs/batch", { jobs: [{ type: "a", idempotency_key: "k" }] }),
      post(api.url, `/jobs/${id}/cancel`),
      post(api.url, `/jobs/${id}/retry`),
    ]);
    for (const { status } of answers) expect(status).toBe(503);
    return Math.max(...answers.map(({ ms }) => ms));
  });
  await system.servers.postgres.restart();
  await eventually(async () => expect((await ack(api.url, held)).status).toBe(200));
  await createMany(api.url, 20);
  const settled = await Promise.allSettled(calls);
  const leased = settled.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  expect(settled.filter(({ status }) => status === "rejected").length).toBeLessThanOrEqual(1);
  expect(new Set(leased.map(({ job }) => job.id)).size).toBeGreaterThanOrEqual(19);
});

test("a job running on a local worker is cancelled: its handler learns within a moment, or by the next renewal", async () => {
  const api = await system.startApi(quiet);
  const worker = await system.startWorker({ WORKER_LEASE_SECONDS: "30" });
  const hasty = await system.startWorker({ WORKER_LEASE_SECONDS: "3", WORKER_QUEUES: "hasty" });
  const running = async (queue: string) => {
    const id = await api.create({ type: "demo.sleep", payload: { ms: 60_000 }, queue });
    await eventually(async () => expect(await api.read(id)).toMatchObject({ status: "running" }));
    return id;
  };
  const cancelled = async (id: string) => {
    const { status, body } = await post(api.url, `/jobs/${id}/cancel`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "cancelled", attempts: 1 });
    return performance.now();
  };

  /** From a cancel's answer to the end of its handler. */
  const aborted = (queue: string, on: SpawnedProcess) => async () => {
    const id = await running(queue);
    if (queue === "hasty") await system.servers.redis.stop();
    const told = await cancelled(id);
    await on.waitForLine(new RegExp(`"event":"handler_error".*${id}`));
    expect(await api.read(id)).toMatchObject({ status: "cancelled" });
    return performance.now() - told;
  };
  // A renewal would come after ten seconds.
  await inTime(1_500, aborted("default", worker));
  // A renewal comes after a third of the lease, well before its end.
  await inTime(2_000, aborted("hasty", hasty));
});
