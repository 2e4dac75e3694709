import { eventually, ownRedis, redisUrl } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { newKeys, openSignal } from "../../../test/working-signal.ts";
import { turnKey, workersKey } from "../keys.ts";
import { workers_max, type WorkerPresence } from "../presence.ts";

/** A signal, and Redis itself. */
function open(url = redisUrl()) {
  const keys = newKeys();
  const redis = new Redis(url);
  onTestFinished(() => redis.disconnect());
  return { keys, redis, signal: openSignal({ url, keys, timeoutMs: 5_000 }) };
}
const workerOf = (id: string): WorkerPresence => {
  const facts = { host: "h", pid: 1, queues: [], handlers: [], concurrency: 1, active: 0, lease_seconds: 30 };
  return { ...facts, id, tenant: "default", state: "running" };
};

test("a turn is over after its period, even if Redis' clock was set back", async () => {
  const { keys, redis, signal } = open();
  expect(await signal.takeTurn("sweep", 60_000)).toBe(true);
  await redis.pexpire(turnKey(keys, "sweep"), 3_600_000);
  expect(await signal.takeTurn("sweep", 50)).toBe(false);
  await eventually(async () => expect(await signal.takeTurn("sweep", 50)).toBe(true));
});

test("workers that fell silent make room for new ones when the workers are listed", async () => {
  const { keys, redis, signal } = open();
  const silent = Array.from({ length: workers_max }, (_, at) => [`w-${at}`, `${Date.now() - 60_000} {}`] as const);
  await redis.hset(workersKey(keys, "default"), Object.fromEntries(silent));
  const worker = workerOf("new");
  await signal.presence.announce(worker);
  expect(await signal.presence.list("default")).toEqual([]);
  await signal.presence.announce(worker);
  expect(await signal.presence.list("default")).toMatchObject([{ id: "new" }]);
});

test("a worker heard from before Redis' clock was set back is not listed until it is heard again", async () => {
  const { keys, redis, signal } = open();
  const worker = workerOf("w");
  await redis.hset(workersKey(keys, "default"), "w", `${Date.now() + 3_600_000} ${JSON.stringify(worker)}`);
  expect(await signal.presence.list("default")).toEqual([]);
  await signal.presence.announce(worker);
  expect(await signal.presence.list("default")).toHaveLength(1);
});

test("ids behind many empty queues are taken in a few round trips", async () => {
  // Others' commands, reported before the driver knows that it monitors, would be junk to it.
  const server = await ownRedis();
  onTestFinished(() => server.stop());
  const { keys, redis, signal } = open(server.url);
  const monitor = await redis.monitor();
  onTestFinished(() => monitor.disconnect());
  const queues = Array.from({ length: 1_200 }, (_, at) => ({ tenant: "default", queue: `q${at}` }));
  for (const at of [1_150, 700])
    await signal.push([{ ...(queues[at] as (typeof queues)[0]), id: `of ${at}`, priority: 0 }]);
  let scripts = 0;
  const over = Promise.withResolvers<void>();
  monitor.on("monitor", (_at: string, [command, ...words]: string[]) => {
    if (command?.startsWith("eval") && words.some((word) => word.startsWith(keys.jobs))) scripts += 1;
    if (command === "ping" && words[0] === keys.jobs) over.resolve();
  });
  expect((await signal.take(queues, 10)).ids).toEqual(["of 700", "of 1150"]);
  await redis.ping(keys.jobs);
  await over.promise;
  expect(scripts).toBeLessThan(10);
});
