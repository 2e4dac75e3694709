import { redisSignal, type SignalKeys } from "@atlasqueue/core";
import { eventually, forFile, ownRedis, tcpProxy, uniqueKeys, type TcpProxy } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { any, noop, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, useSignal, work } = workerHarness();
const bad = defineHandler("bad", any, () => Promise.reject(new Error("no")));
/** While a wait on the signal lasts this long, only a look into Postgres finds a job in time. */
const patient = { pollTimeoutSeconds: 60 };

const server = forFile(ownRedis);
let redis: Redis;
let proxy: TcpProxy;
let keys: SignalKeys;
beforeAll(() => void (redis = new Redis(server.url)));
afterAll(() => void redis.disconnect());
beforeEach(async () => {
  proxy = await tcpProxy(server.url);
  const { jobsKey, dlqKey } = uniqueKeys();
  keys = { jobs: jobsKey, deadLetters: dlqKey };
  useSignal(() => redisSignal({ url: proxy.url, keys }));
  return () => proxy.close();
});
/** Once a job has run, the worker is waiting on its signal. */
const isIdle = async () => becomes((await add({}))[0], { status: "succeeded" });
const listed = async () => new Set(await redis.lrange(keys.deadLetters, 0, -1));

test("while Redis is full, jobs still run; those that die are in the list once there is room again", async () => {
  work([noop, bad], patient);
  await isIdle();
  await redis.config("SET", "maxmemory", "1");
  const [id] = await add({});
  await becomes(id, { status: "succeeded" });
  const dead = await add({ type: "bad", max_attempts: 1 }, { type: "bad", max_attempts: 1 });
  for (const one of dead) await becomes(one, { status: "dead" });
  expect(await listed()).toEqual(new Set());
  await redis.config("SET", "maxmemory", "0");
  await eventually(async () => expect(await listed()).toEqual(new Set(dead)), { timeout_ms: 20_000 });
});

test("while Redis does not answer, jobs run; the dead are listed afterwards", { tags: ["slow"] }, async () => {
  work([noop, bad], patient);
  await isIdle();
  proxy.blackhole();
  const dead = await add({ type: "bad", max_attempts: 1 }, { type: "bad", max_attempts: 1 });
  for (const one of dead) await becomes(one, { status: "dead" });
  proxy.heal();
  await eventually(async () => expect(await listed()).toEqual(new Set(dead)), { timeout_ms: 20_000 });
});

test("jobs run although a list's name is taken; the dead are listed once it is free", { tags: ["slow"] }, async () => {
  work([noop, bad], { pollTimeoutSeconds: 1 });
  const [before] = await add({ type: "bad", max_attempts: 1 });
  await eventually(async () => expect(await listed()).toEqual(new Set([before])));
  for (const key of [keys.deadLetters, keys.jobs]) {
    await redis.del(key);
    await redis.set(key, "a string");
  }
  const [after] = await add({ type: "bad", max_attempts: 1 });
  await becomes(after, { status: "dead" });
  await redis.del(keys.deadLetters);
  await eventually(async () => expect(await listed()).toEqual(new Set([before, after])), { timeout_ms: 20_000 });
});
