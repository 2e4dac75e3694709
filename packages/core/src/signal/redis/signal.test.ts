import { eventually, ownRedis, redisUrl, uniqueKeys } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { turnKey, workersKey } from "../keys.ts";
import { workers_max } from "../presence.ts";
import { redisSignal } from "./signal.ts";

test("a turn is over after its period, even if Redis' clock was set back", async () => {
  const { jobsKey, dlqKey } = uniqueKeys();
  const keys = { jobs: jobsKey, deadLetters: dlqKey };
  const signal = redisSignal({ url: redisUrl(), keys, timeoutMs: 5_000 });
  const redis = new Redis(redisUrl());
  onTestFinished(async () => {
    redis.disconnect();
    await signal.close();
  });
  expect(await signal.takeTurn("sweep", 60_000)).toBe(true);
  await redis.pexpire(turnKey(keys, "sweep"), 3_600_000);
  expect(await signal.takeTurn("sweep", 50)).toBe(false);
  await eventually(async () => expect(await signal.takeTurn("sweep", 50)).toBe(true));
});

test("workers that fell silent make room for new ones when the workers are listed", async () => {
  const { jobsKey, dlqKey } = uniqueKeys();
  const keys = { jobs: jobsKey, deadLetters: dlqKey };
  const signal = redisSignal({ url: redisUrl(), keys, timeoutMs: 5_000 });
  const redis = new Redis(redisUrl());
  onTestFinished(async () => {
    redis.disconnect();
    await signal.close();
  });
  const silent = Array.from({ length: workers_max }, (_, at) => [`w-${at}`, `${Date.now() - 60_000} {}`] as const);
  await redis.hset(workersKey(keys, "default"), Object.fromEntries(silent));
  const facts = { host: "h", pid: 1, queues: [], handlers: [], concurrency: 1, active: 0, lease_seconds: 30 };
  const worker = { ...facts, id: "new", tenant: "default", state: "running" as const };
  await signal.presence.announce(worker);
  expect(await signal.presence.list("default")).toEqual([]);
  await signal.presence.announce(worker);
  expect(await signal.presence.list("default")).toMatchObject([{ id: "new" }]);
});

test("a worker heard from before Redis' clock was set back is not listed until it is heard again", async () => {
  const { jobsKey, dlqKey } = uniqueKeys();
  const keys = { jobs: jobsKey, deadLetters: dlqKey };
  const signal = redisSignal({ url: redisUrl(), keys, timeoutMs: 5_000 });
  const redis = new Redis(redisUrl());
  onTestFinished(async () => {
    redis.disconnect();
    await signal.close();
  });
  const facts = { id: "w", host: "h", pid: 1, queues: [], handlers: [], concurrency: 1, active: 0, lease_seconds: 30 };
  const worker = { ...facts, tenant: "default", state: "running" as const };
  await redis.hset(workersKey(keys, "default"), "w", `${Date.now() + 3_600_000} ${JSON.stringify(worker)}`);
  expect(await signal.presence.list("default")).toEqual([]);
  await signal.presence.announce(worker);
  expect(await signal.presence.list("default")).toHaveLength(1);
});

test("ids behind many empty queues are taken in a few round trips", async () => {
  const { jobsKey, dlqKey } = uniqueKeys();
  // Others' commands, reported before the driver knows that it monitors, would be junk to it.
  const server = await ownRedis();
  const redis = new Redis(server.url);
  const monitor = await redis.monitor();
  const signal = redisSignal({ url: server.url, keys: { jobs: jobsKey, deadLetters: dlqKey }, timeoutMs: 5_000 });
  onTestFinished(async () => {
    monitor.disconnect();
    redis.disconnect();
    await signal.close();
    await server.stop();
  });
  const queues = Array.from({ length: 1_200 }, (_, at) => ({ tenant: "default", queue: `q${at}` }));
  for (const at of [1_150, 700])
    await signal.push([{ ...(queues[at] as (typeof queues)[0]), id: `of ${at}`, priority: 0 }]);
  let scripts = 0;
  const over = Promise.withResolvers<void>();
  monitor.on("monitor", (_at: string, [command, ...words]: string[]) => {
    if (command?.startsWith("eval") && words.some((word) => word.startsWith(jobsKey))) scripts += 1;
    if (command === "ping" && words[0] === jobsKey) over.resolve();
  });
  expect(await signal.take(queues, 10)).toEqual(["of 700", "of 1150"]);
  await redis.ping(jobsKey);
  await over.promise;
  expect(scripts).toBeLessThan(10);
});
