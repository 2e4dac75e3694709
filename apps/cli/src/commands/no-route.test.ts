// @module-tag nightly
import { fileURLToPath } from "node:url";
import { eventually, redisUrl, spawnProcess, testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { island } from "../../test/island.ts";
import { mainFile, serversOf } from "../../test/run-start.ts";

const ownQueue = fileURLToPath(new URL("../../test/own-queue.ts", import.meta.url));

test("without a route to the servers every program goes on, and works again once it is back", async () => {
  const store = await testDatabase();
  const there = await island(store.url, redisUrl());
  onTestFinished(async () => {
    await there.stop();
    await store.drop();
  });
  const urls = { DATABASE_URL: there.urlOf(store.url), REDIS_URL: there.urlOf(redisUrl()) };
  const settings = { DATABASE_TIMEOUT_SECONDS: "2", API_PORT: "0", WORKER_METRICS_PORT: "0" };
  const env = { ...serversOf(store.url), ...urls, ...settings };
  const run = (file: string, ...args: string[]) => spawnProcess(file, { args, env, under: there.under });
  const api = await run(mainFile, "api");
  const worker = await run(mainFile, "worker");
  const queue = await run(ownQueue);
  await api.waitForLine("api_started");
  await worker.waitForLine("job_succeeded");
  const { url } = api.logs.find(({ event }) => event === "api_started") as { url: string };
  const submit = () => there.status(`${url}/v1/jobs`, { type: "noop" });
  expect(await submit()).toBe(201);

  there.route(false);
  expect(await submit()).toBe(503);
  await queue.waitForLine("refused");
  const migration = await run(mainFile, "migrate");
  expect(await migration.waitForExit()).toEqual({ code: 1, signal: null });
  expect(migration.errorLines).toEqual([
    expect.stringMatching(/^the database in DATABASE_URL cannot be reached: .*ENET/),
  ]);
  await worker.waitForLine("database_unavailable");

  there.route(true);
  const succeeded = () => worker.logs.filter(({ event }) => event === "job_succeeded").length;
  const before = succeeded();
  await eventually(async () => expect(await submit()).toBe(201), { timeout_ms: 15_000 });
  await eventually(() => expect(queue.lines.at(-1)).toBe("submitted"), { timeout_ms: 15_000 });
  await eventually(() => expect(succeeded()).toBeGreaterThan(before), { timeout_ms: 15_000 });
  for (const each of [api, worker, queue]) {
    expect(each.errorLines).toEqual([]);
    each.kill("SIGKILL");
  }
});
