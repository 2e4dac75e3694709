// @module-tag slow
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, tcpProxy } from "@atlasqueue/harness";
import { inParallel, startSystem, type Api, type System } from "./system.ts";

const env = { WORKER_LEASE_SECONDS: "30", WORKER_CONCURRENCY: "4" };
let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

const running = (api: Api, ids: string[]) =>
  eventually(async () => {
    for (const id of ids) expect(await api.read(id)).toMatchObject({ status: "running" });
  });
const sleeps = (api: Api, count: number, ms: number) =>
  inParallel(count, count, () => api.create({ type: "demo.sleep", payload: { ms } }));

test("Redis flushed, stopped for ten seconds, started again: nothing is taken from live workers", async () => {
  const api = await system.startApi();
  const workers = await Promise.all([system.startWorker(env), system.startWorker(env)]);
  const said = () =>
    workers.map(({ lines, errorLines }) => [...lines, ...errorLines].slice(-10).join("\n")).join("\n\n");
  const listed = async () =>
    ((await (await fetch(`${api.url}/v1/workers`)).json()) as { items?: { active: number }[] }).items?.map(
      ({ active }) => active,
    );
  const ids = await sleeps(api, 6, 22_000);
  await running(api, ids);
  await eventually(async () => expect((await listed())?.reduce((sum, one) => sum + one, 0)).toBe(6));

  await system.redis.flushall();
  await eventually(async () => expect(await listed()).toHaveLength(2));
  await system.servers.redis.stop();
  const back_at = performance.now() + 10_000;
  await eventually(() => performance.now() > back_at);
  expect((await fetch(`${api.url}/v1/workers`)).status).toBe(503);
  await system.servers.redis.restart();
  await eventually(async () => expect(await listed(), said()).toHaveLength(2));

  for (const id of ids)
    await eventually(async () => expect(await api.read(id)).toMatchObject({ status: "succeeded", attempts: 1 }));
  expect(await system.sql`SELECT FROM atlasqueue.job_attempts WHERE job_id = ANY(${ids})`).toHaveLength(0);
});

test("a live worker cut off from both servers by resets keeps its jobs, well within their leases", async () => {
  const api = await system.startApi();
  const proxies = await Promise.all([tcpProxy(system.servers.postgres.url), tcpProxy(system.servers.redis.url)]);
  const [DATABASE_URL, REDIS_URL] = proxies.map((proxy) => proxy.url);
  const cut = await system.startWorker({ ...env, DATABASE_URL: DATABASE_URL ?? "", REDIS_URL: REDIS_URL ?? "" });
  const ids = await sleeps(api, 2, 16_000);
  await running(api, ids);
  for (const proxy of proxies) proxy.refuse();
  const healed_at = performance.now() + 12_000;
  await system.startWorker(env);
  await eventually(() => performance.now() > healed_at);
  for (const proxy of proxies) proxy.heal();
  for (const id of ids)
    await eventually(async () => expect(await api.read(id)).toMatchObject({ status: "succeeded", attempts: 1 }));
  cut.kill("SIGTERM");
  await cut.waitForExit(20_000);
  await Promise.all(proxies.map((proxy) => proxy.close()));
});
