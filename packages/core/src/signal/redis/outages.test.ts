import { eventually, ownRedis, redisUrl } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { openProxy } from "../../../test/opened.ts";
import { job, main, never } from "../../../test/signal-drivers.ts";
import { expectAllToWork, newKeys, openSignal, soon } from "../../../test/working-signal.ts";

const open = (url: string, keys = newKeys()) => openSignal({ url, keys, timeoutMs: 1_000 });
/** With one password, as a name that moves takes its credentials with it. */
async function startRedis() {
  const server = await ownRedis({ password: "the-same-for-all-of-them" });
  const ask = new Redis(server.url);
  onTestFinished(async () => {
    ask.disconnect();
    await server.stop();
  });
  return Object.assign(server, { ask });
}

test("connections that no longer get answers are dropped and redialled", { tags: ["slow"] }, async () => {
  const proxy = await openProxy(redisUrl());
  const signal = open(proxy.url);
  await expectAllToWork(signal);
  const waiting = signal.wait([main], 60_000, never).then(
    () => "a wait that ended",
    (error: Error) => error.name,
  );
  proxy.blackhole();
  await eventually(() => expect(signal.state()).toBe("down"), soon);
  // A minute's wait on a dead connection would keep a worker from looking elsewhere.
  expect(await waiting).toBe("SignalUnavailableError");
  proxy.heal();
  await expectAllToWork(signal);
});

test("a server that accepts connections and never speaks is abandoned too", async () => {
  const proxy = await openProxy(redisUrl());
  proxy.blackhole();
  const signal = open(proxy.url);
  signal.notices.listen("finished", () => {});
  await expect(signal.push([job("a")])).rejects.toMatchObject({ name: "SignalUnavailableError" });
  await eventually(() => expect(proxy.accepted()).toBeGreaterThan(2), soon);
  proxy.heal();
  await expectAllToWork(signal);
});

test("connections that are reset, then refused for a while, come back", async () => {
  const proxy = await openProxy(redisUrl());
  const signal = open(proxy.url);
  await expectAllToWork(signal);
  proxy.refuse();
  await eventually(() => expect(signal.state()).toBe("down"), soon);
  proxy.heal();
  await expectAllToWork(signal);
});

test("a master that became a replica is abandoned for the one its name points to now", { tags: ["slow"] }, async () => {
  const [old, next] = [await startRedis(), await startRedis()];
  const proxy = await openProxy(old.url);
  const signal = open(proxy.url);
  await expectAllToWork(signal);
  await old.ask.config("SET", "masterauth", "the-same-for-all-of-them");
  await old.ask.replicaof("127.0.0.1", String(next.port));
  await eventually(() => expect(signal.state()).not.toBe("up"), soon);
  await eventually(() => expect(signal.check()).rejects.toThrow("is a replica, which takes no writes"), soon);
  await expect(signal.wait([main], 60_000, never)).rejects.toMatchObject({ name: "SignalUnavailableError" });
  proxy.pointAt(next.url);
  await expectAllToWork(signal);
});

test("a full Redis refuses waits too, so that waiting workers look into Postgres", { tags: ["slow"] }, async () => {
  const server = await startRedis();
  const signal = open(server.url);
  await expectAllToWork(signal);
  await signal.push([job("before")]);
  const waiting = signal.wait([{ tenant: "default", queue: "idle" }], 60_000, never).catch((error: Error) => error);
  await server.ask.config("SET", "maxmemory", "1");
  // Nothing pushes: the beat finds it.
  expect(await waiting).toMatchObject({ message: expect.stringContaining("OOM") });
  expect(signal.state()).toBe("refusing");
  await expect(signal.check()).rejects.toThrow("Redis refuses writes: OOM");
  await expect(signal.push([job("a")])).rejects.toMatchObject({ name: "SignalUnavailableError" });
  // What is in it can still be read.
  expect((await signal.take([main], 10)).ids).toEqual(["before"]);
  await server.ask.config("SET", "maxmemory", "0");
  await expectAllToWork(signal);
});

test("a key of another type under one of our names fails the calls for it, and no others, until it is deleted", async () => {
  const keys = newKeys();
  const signal = open(redisUrl(), keys);
  const redis = new Redis(redisUrl());
  onTestFinished(() => redis.disconnect());
  await redis.set(keys.jobs, "a string");
  const unavailable = { name: "SignalUnavailableError", message: expect.stringContaining("WRONGTYPE") };
  await expect(signal.push([job("a")])).rejects.toMatchObject(unavailable);
  await expect(signal.take([main], 1)).rejects.toMatchObject(unavailable);
  await expect(signal.wait([main], 60_000, never)).rejects.toMatchObject(unavailable);
  const other = { tenant: "default", queue: "other" };
  await signal.push([job("b", 0, other)]);
  expect((await signal.take([other], 1)).ids).toEqual(["b"]);
  await redis.del(keys.jobs);
  await expectAllToWork(signal);
});

test("a Redis that is too old is refused with a sentence naming the oldest supported version", async () => {
  const proxy = await openProxy(redisUrl());
  // Change only a digit, as the length of the answer comes before it.
  proxy.alterAnswers((text) => text.replace(/(redis_version:)\d/g, "$14"));
  const signal = open(proxy.url);
  const sentence = /^AtlasQueue needs Redis 6\.2 or newer, or Valkey; the server at REDIS_URL is 4\./;
  await expect(signal.check()).rejects.toThrow(sentence);
  await expect(signal.push([job("a")])).rejects.toThrow(sentence);
  expect(signal.state()).toBe("refusing");
});
