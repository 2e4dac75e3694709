import { once } from "node:events";
import { connect, createServer } from "node:net";
import { minimalUser, eventually, sentinelSet, forFile } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { main, never } from "../../../test/signal-drivers.ts";
import { expectAllToWork, newKeys, openSignal, soon } from "../../../test/working-signal.ts";
import { defaultKeys } from "../keys.ts";
import { parseRedisUrl } from "./address.ts";
import { watchMaster } from "./one-server.ts";

const set = forFile(sentinelSet);

const open = (url = set.url, keys = newKeys()) => openSignal({ url, keys, timeoutMs: 1_000 });

test("the master is found through the sentinels, under the same names as on a single server", async () => {
  const signal = open(set.url, defaultKeys);
  await signal.push([{ ...main, id: "a", priority: 0 }]);
  await signal.deadLetters.add(["dead"]);
  const { ask } = await set.master();
  expect(await ask.lrange("atlasqueue:jobs", 0, -1)).toEqual(["a"]);
  expect(await ask.lrange("atlasqueue:dlq", 0, -1)).toEqual(["dead"]);
  await expectAllToWork(signal);
});

test("a demoted master is left for the new one", async () => {
  const signal = open();
  await expectAllToWork(signal);
  const waiting = signal.wait([main], 60_000, never).catch((error: Error) => error.name);
  await set.failover();
  // Without a word from the sentinels it takes writes for ten seconds more.
  expect(await waiting).toBe("SignalUnavailableError");
  await expectAllToWork(signal);
});

test("a server is left for the one that sentinels name by its host, also when both have the same port", async () => {
  for (const setting of ["resolve-hostnames", "announce-hostnames"])
    await set.sentinel.call("SENTINEL", "CONFIG", "SET", setting, "yes");
  const url = new URL((await set.master()).url);
  await set.sentinel.call("SENTINEL", "MONITOR", "by-name", "localhost", url.port, "1");
  const relay = createServer((socket) => {
    const server = connect(Number(url.port), "127.0.0.1");
    socket.pipe(server).pipe(socket);
    for (const one of [socket, server]) one.on("error", () => {});
  }).listen(Number(url.port), "127.0.0.2");
  await once(relay, "listening");
  const address = parseRedisUrl(set.url.replace("/jobs?", "/by-name?"));
  if (address.kind !== "sentinel") throw new Error("no sentinels are named");
  // The others know nothing of that name.
  address.sentinels.length = 1;
  const told: string[] = [];
  const watched = ["127.0.0.1", "127.0.0.2"].map((host) => {
    const commands = new Redis(Number(url.port), host, { password: url.password }).on("error", () => {});
    return { commands, ...watchMaster(address, undefined, { commands, moved: () => void told.push(host) }) };
  });
  await eventually(() => {
    for (const { beat } of watched) beat();
    expect(told.length).toBeGreaterThan(3);
  }, soon);
  expect(new Set(told)).toEqual(new Set(["127.0.0.2"]));
  for (const { commands, close } of watched) {
    commands.disconnect();
    close();
  }
  relay.close();
  await set.sentinel.call("SENTINEL", "REMOVE", "by-name");
  for (const setting of ["resolve-hostnames", "announce-hostnames"])
    await set.sentinel.call("SENTINEL", "CONFIG", "SET", setting, "no");
});

test("a user with no more rights on the sentinels than the operators' page gives finds the master", async () => {
  for (const { ask } of set.sentinels) {
    await minimalUser(ask, { of: "sentinel" });
    await ask.acl("LOG", "RESET");
  }
  const login = "sentinel_username=atlasqueue&sentinel_password=of-the-user";
  const signal = open(set.url.replace(/sentinel_password=.*/, login));
  await expectAllToWork(signal);
  const logs = await Promise.all(set.sentinels.map(({ ask }) => ask.acl("LOG") as Promise<string[][]>));
  const denied = logs.flat().map((entry) => entry[entry.indexOf("object") + 1]);
  expect(denied.filter((object) => !object?.startsWith("client|set"))).toEqual([]);
});

test("sentinels that are away or silent are passed over, and all gone change nothing", { tags: ["slow"] }, async () => {
  const [frozen, killed, last] = set.sentinels;
  frozen?.kill("SIGSTOP");
  killed?.kill("SIGKILL");
  const signal = open();
  await expectAllToWork(signal);
  last?.kill("SIGKILL");
  await expectAllToWork(signal);
  // A new one, with no sentinel to ask, fails in time and says why.
  const late = open(set.url.replace(/@[^/]*/, `@127.0.0.1:${killed?.port},127.0.0.1:${last?.port}`));
  await eventually(() => expect(late.check()).rejects.toThrow("All sentinels are unreachable"), soon);
  expect(late.state()).toBe("down");
  frozen?.kill("SIGCONT");
});

test("a sentinel's address without the set's name is told apart from a server's", async () => {
  const { port } = set.sentinels[0] ?? {};
  const signal = open(`redis://:of-the-sentinels@127.0.0.1:${port}`);
  await eventually(
    () => expect(signal.check()).rejects.toThrow("the server at REDIS_URL is a sentinel: use redis+sentinel://"),
    soon,
  );
});
