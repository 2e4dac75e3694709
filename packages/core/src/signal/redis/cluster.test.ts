import { eventually, redisCluster, redisUrl, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { job, main, never } from "../../../test/signal-drivers.ts";
import { expectAllToWork, expectQueueToWork, newKeys, openSignal, soon } from "../../../test/working-signal.ts";
import { clusterKeys, slotOf } from "./cluster-keys.ts";
import { defaultKeys, queueKeys, type SignalKeys } from "../keys.ts";

const cluster = forFile(() => redisCluster({ replicas: 1 }));

const open = (keys: SignalKeys, url = cluster.url) => openSignal({ url, keys, timeoutMs: 1_000 });
const queue = (at: number) => ({ tenant: "default", queue: `q${at}` });
const queues = Array.from({ length: 40 }, (_, at) => queue(at));
const listOf = (keys: SignalKeys, of: typeof main) => queueKeys(clusterKeys(keys), of).list;
/** By the server that has their slot now. */
async function byServer(keys: SignalKeys) {
  const owners = await Promise.all(
    queues.map(async (of) => ({ of, port: (await cluster.masterOf(listOf(keys, of))).port })),
  );
  return Map.groupBy(owners, ({ port }) => port);
}

test("a worker of forty queues waits on eight connections, and whatever came in at once is kept", async () => {
  const keys = newKeys();
  const signal = open(keys);
  await expectAllToWork(signal);
  const waiters = async () => {
    const lists = await Promise.all(
      cluster.servers.map(async ({ ask }) => String(await ask.client("LIST")).split("\n")),
    );
    return lists.flat().filter((line) => line.includes("cmd=blpop")).length;
  };
  const got: string[] = [];
  for (let round = 0; round < 20; round += 1) {
    const waiting = signal.wait(queues, 60_000, never);
    if (round === 0) await eventually(async () => expect(await waiters()).toBe(8));
    const ids = queues.map(({ queue: name }) => `${round}-${name}`);
    await signal.push(ids.map((id, at) => job(id, 0, queue(at))));
    const woken = await waiting;
    const taken = (await signal.take(queues, 100)).ids;
    expect([woken?.id, ...taken].toSorted()).toEqual(ids.toSorted());
    got.push(woken?.id ?? "");
  }
  expect(got).toHaveLength(20);
});

test("the dead letters keep their well-known name", async () => {
  const signal = open(defaultKeys);
  await eventually(() => signal.deadLetters.add(["dead"]), soon);
  const { ask } = await cluster.masterOf("atlasqueue:dlq");
  expect(await ask.lrange("atlasqueue:dlq", 0, -1)).toEqual(["dead"]);
  await signal.deadLetters.clear();
});

test("a URL that takes a server for a cluster, or a cluster for a server, is told so", async () => {
  const keys = newKeys();
  const [one] = cluster.servers;
  const single = open(keys, one?.url);
  await eventually(
    () => expect(single.check()).rejects.toThrow("the Redis at REDIS_URL is part of a cluster: use redis+cluster://"),
    soon,
  );
  const none = open(keys, redisUrl().replace("redis://", "redis+cluster://"));
  await eventually(() => expect(none.check()).rejects.toThrow("cluster support disabled"), soon);
});

test("a slot is moved under a waiting worker: it follows", async () => {
  const keys = newKeys();
  const signal = open(keys);
  await expectAllToWork(signal);
  const list = listOf(keys, main);
  const from = await cluster.masterOf(list);
  const others = await Promise.all([0, 1, 2].map((at) => cluster.masterOf(`{${["a", "b", "c"][at]}}`)));
  const to = others.find((server) => server !== from) ?? others[0];
  if (!to) throw new Error("one server has everything");
  await signal.push([job("before"), job("urgent", 5)]);
  await cluster.moveSlot(slotOf(list), to);
  expect((await cluster.masterOf(list)).port).toBe(to.port);
  await eventually(async () => expect((await signal.take([main], 10)).ids).toEqual(["urgent", "before"]), soon);
  const waiting = signal.wait([main], 60_000, never).catch((error: Error) => error.name);
  await cluster.moveSlot(slotOf(list), from);
  await expectQueueToWork(signal);
  expect(await waiting).not.toBeUndefined();
});

test("a lost shard's queues are refused at once until its replica has taken over", { tags: ["slow"] }, async () => {
  const keys = newKeys();
  const signal = open(keys);
  await expectAllToWork(signal);
  const groups = [...(await byServer(keys)).entries()];
  const [lostPort, lost = []] = groups[0] ?? [];
  const [, kept = []] = groups[1] ?? [];
  const [mine, theirs] = [lost[0]?.of ?? main, kept[0]?.of ?? main];
  const server = cluster.servers.find(({ port }) => port === lostPort);
  const replicas = await eventually(async () => {
    const all = String(await server?.ask.info("replication"));
    if (!all.includes("connected_slaves:1")) throw new Error("no replica yet");
    return all;
  });
  expect(replicas).toContain("role:master");
  const waiting = signal.wait([mine], 60_000, never).catch((error: Error) => error.name);
  server?.pause();
  // Other shards have their answers as before, at each look.
  let looks = 0;
  const ended = waiting.then(() => true);
  while (!(await Promise.race([ended, Promise.resolve(false)]))) {
    await expectQueueToWork(signal, theirs);
    looks += 1;
  }
  expect(looks).toBeGreaterThan(0);
  expect(await waiting).toBe("SignalUnavailableError");
  expect(["refusing", "up"]).toContain(signal.state());
  await expectQueueToWork(signal, mine);
  await expectAllToWork(signal);
  server?.resume();
  await expectAllToWork(signal);
});

test("a shard that is gone for good: the state says so, and a wait that needs it is refused", async () => {
  const keys = newKeys();
  const signal = open(keys);
  await expectAllToWork(signal);
  const groups = [...(await byServer(keys)).entries()];
  const [port, lost = []] = groups[0] ?? [];
  const [, kept = []] = groups[1] ?? [];
  const [mine, theirs] = [lost[0]?.of ?? main, kept[0]?.of ?? main];
  const gone = cluster.servers.find((server) => server.port === port);
  const id = gone?.id ?? "";
  const all = String(await gone?.ask.cluster("NODES")).split("\n");
  const ids = all.filter((line) => line.includes(id)).map((line) => line.split(" ")[0]);
  for (const server of cluster.servers.filter((one) => ids.includes(one.id))) await server.kill("SIGKILL");
  await eventually(() => expect(signal.state()).toBe("refusing"), soon);
  await expect(signal.wait([theirs, mine], 60_000, never)).rejects.toMatchObject({ name: "SignalUnavailableError" });
  await expect(signal.push([job("a", 0, mine)])).rejects.toMatchObject({ name: "SignalUnavailableError" });
  const words = `there is no connection to 127.0.0.1:${port} of the Redis cluster`;
  await eventually(() => expect(signal.check()).rejects.toThrow(words), soon);
  // To one that comes later too.
  const late = open(keys);
  await eventually(() => expect(late.check()).rejects.toThrow(words), soon);
  await expectQueueToWork(signal, theirs);
});
