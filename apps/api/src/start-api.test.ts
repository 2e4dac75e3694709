import { memorySignal } from "@atlasqueue/core";
import { eventually, otherOwner, redisUrl, testDatabase, uniqueKeys } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { readApiConfig } from "./config.ts";
import { startApi } from "./start-api.ts";

test("a stop ends although a part of it never does, and the log says which", async () => {
  const { url, drop } = await testDatabase();
  onTestFinished(drop);
  const waited = Promise.withResolvers<void>();
  const signal = memorySignal();
  signal.wait = () => {
    waited.resolve();
    return new Promise(() => {});
  };
  let lines = "";
  const log = { write: (line: string) => void (lines += line) };
  const config = readApiConfig({ DATABASE_URL: url, API_PORT: "0", SHUTDOWN_SECONDS: "1" });
  const api = await startApi(config, { signal, log });
  const leased = fetch(`${api.url}/v1/queues/q/lease`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ worker_id: "w", wait_seconds: 30 }),
  });
  await waited.promise;
  await api.stop();
  expect(await (await leased).json()).toMatchObject({ jobs: [] });
  await eventually(() => expect(lines).toContain('"event":"shutdown_timeout","part":"the waiting leases"'));
});

test("an idle connection stays open as long as API_KEEP_ALIVE_SECONDS says, at an IPv6 address in brackets too", async () => {
  const { url, drop } = await testDatabase();
  onTestFinished(drop);
  const set = { DATABASE_URL: url, API_HOST: "[::1]", API_PORT: "0", API_KEEP_ALIVE_SECONDS: "620" };
  const api = await startApi(readApiConfig({ ...set, LOG_LEVEL: "ERROR" }));
  onTestFinished(api.stop);
  expect((await fetch(`${api.url}/livez`)).headers.get("keep-alive")).toBe("timeout=620");
});

test("with another database on its Redis it answers 503, and starts no more", async () => {
  const { url, drop } = await testDatabase();
  onTestFinished(drop);
  const { jobsKey, dlqKey } = uniqueKeys();
  const other = await otherOwner(jobsKey);
  onTestFinished(other.leave);
  const servers = { DATABASE_URL: url, REDIS_URL: redisUrl(), JOB_QUEUE_KEY: jobsKey, DLQ_KEY: dlqKey };
  const config = readApiConfig({ ...servers, API_PORT: "0", LOG_LEVEL: "silent" });
  const api = await startApi(config);
  onTestFinished(api.stop);
  await eventually(async () => {
    const ready = await fetch(`${api.url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ status: "unavailable", reason: expect.stringContaining("REDIS_URL") });
  });
  const refused = await fetch(`${api.url}/v1/queues`);
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ detail: expect.stringContaining("another database uses this Redis") });
  expect((await fetch(`${api.url}/livez`)).status).toBe(200);
  await expect(startApi(config)).rejects.toThrow("REDIS_URL: another database uses this Redis with the same keys");
});
