import {
  certificateAuthority,
  eventually,
  forFile,
  minimalUser,
  redisCluster,
  sentinelSet,
  tlsRedis,
} from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { job, main } from "../../../test/signal-drivers.ts";
import { expectAllToWork, openSignal, soon } from "../../../test/working-signal.ts";
import { parseRedisUrl, type RedisAddress } from "./address.ts";
import { dial, hangUp, type RedisTls } from "./dial.ts";
import type { Signal } from "../signal.ts";

const redis = forFile(tlsRedis);
let ask: Redis;
beforeAll(() => void (ask = new Redis(redis.server.url)));
afterAll(() => void ask.disconnect());

const open = (tls: RedisTls | undefined, login = ":the-same-for-all-of-them", host = "127.0.0.1") =>
  openSignal({ url: `rediss://${login}@${host}:${redis.tls_port}`, tls, timeoutMs: 2_000 });
const own = () => ({ ca: redis.authority.ca, cert: redis.client.cert, key: redis.client.key });
const refused = (signal: Signal, words: RegExp) =>
  eventually(async () => {
    await expect(signal.check()).rejects.toThrow(words);
    expect(signal.state()).toBe("down");
  }, soon);

test("with its authority and a certificate of ours, everything works over TLS", async () => {
  const signal = open(own());
  await expectAllToWork(signal);
  const clients = String(await ask.client("LIST")).split("\n");
  expect(clients.filter((line) => line.includes(`laddr=127.0.0.1:${redis.tls_port}`)).length).toBeGreaterThan(0);
});

test("a certificate that is not for the name that was dialled is refused, unless its name is given", async () => {
  await refused(open(own(), undefined, "localhost"), /does not match certificate's altnames/);
  await expectAllToWork(open({ ...own(), servername: "redis.internal" }, undefined, "localhost"));
});

test(
  "an error names an unknown authority, or our missing certificate, as the reason",
  { tags: ["nightly"] },
  async () => {
    await refused(
      open({ ...own(), ca: certificateAuthorityOfOthers() }),
      /there is no connection to Redis: .*certificate/,
    );
    await refused(open({ ca: redis.authority.ca }), /there is no connection to Redis: .*certificate required/);
  },
);

test("a connection that is ended in the middle of TLS with an unknown authority leaves no error unheard", async () => {
  const to = parseRedisUrl(redis.url) as Extract<RedisAddress, { kind: "server" }>;
  const ca = certificateAuthorityOfOthers();
  const unheard = vi.fn();
  process.prependListener("uncaughtException", unheard);
  onTestFinished(() => void process.off("uncaughtException", unheard));
  for (let tries = 0; tries < 10; tries += 1) {
    redis.server.pause();
    const connection = dial(to, { tls: { ca } });
    await eventually(() => expect(connection.stream?.readyState).toBe("open"));
    hangUp(connection);
    const closed = new Promise((resolve) => connection.stream.once("close", resolve));
    redis.server.resume();
    await closed;
  }
  expect(unheard).not.toHaveBeenCalled();
});

test("a wrong password is told as the reason, and not shown", async () => {
  const signal = open(own(), ":wrong-one");
  await refused(signal, /WRONGPASS/);
  await expect(signal.check()).rejects.not.toThrow(/wrong-one/);
});

test("a user with no more rights than the operators' page gives can do everything", async () => {
  const user = await minimalUser(ask);
  await ask.acl("LOG", "RESET");
  const signal = open(own(), user);
  await expectAllToWork(signal);
  await signal.deadLetters.add(Array.from({ length: 30 }, (_, at) => `dead-${at}`));
  await signal.deadLetters.remove(Array.from({ length: 20 }, (_, at) => `dead-${at}`));
  expect(await signal.deadLetters.page(0, 100)).toHaveLength(10);
  await signal.deadLetters.clear();
  await signal.takePermits("x", [1], { limit: 1, period_ms: 1_000 });
  expect(await signal.takeTurn("sweep", 1_000)).toBe(true);
  await signal.push([job("plain"), { ...job("urgent"), priority: 5 }]);
  expect((await signal.take([main], 10)).ids).toEqual(["urgent", "plain"]);
  // The client's greeting, which it may leave out.
  const denied = ((await ask.acl("LOG")) as string[][]).map((entry) => entry[entry.indexOf("object") + 1]);
  expect(denied.filter((object) => !object?.startsWith("client|set"))).toEqual([]);
});

test(
  "a cluster, and sentinels with their servers, are spoken to over TLS throughout",
  { tags: ["nightly"] },
  async () => {
    const [cluster, set] = await Promise.all([
      redisCluster({ tls: redis.authority }),
      sentinelSet({ tls: redis.authority }),
    ]);
    onTestFinished(async () => {
      await Promise.all([cluster.stop(), set.stop()]);
    });
    for (const { url } of [cluster, set]) {
      await expectAllToWork(openSignal({ url, tls: own(), timeoutMs: 2_000 }));
      const refusedOne = openSignal({ url, tls: { ca: redis.authority.ca }, timeoutMs: 2_000 });
      await refused(refusedOne, /there is no connection to Redis: /);
    }
  },
);

function certificateAuthorityOfOthers(): string {
  const other = certificateAuthority();
  other.remove();
  return other.ca;
}
