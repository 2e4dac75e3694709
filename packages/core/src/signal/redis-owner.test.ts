import {
  eventually,
  ownRedis,
  recordEvents,
  redisUrl,
  testDatabase,
  uniqueKeys,
  type TestDatabase,
} from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { memorySignal } from "./memory/signal.ts";
import { redisSignal } from "./redis/signal.ts";
import { createRedisOwner, isOthersRedis, requireOwnRedis } from "./redis-owner.ts";

const renew_ms = 200;

/** Databases on one Redis, with the same keys. */
function server(url = redisUrl()) {
  const { jobsKey, dlqKey } = uniqueKeys();
  const keys = { jobs: jobsKey, deadLetters: dlqKey };
  const redis = new Redis(url);
  onTestFinished(() => redis.disconnect());
  return {
    redis,
    key: `${jobsKey}:nonce`,
    async database() {
      const own = await testDatabase();
      onTestFinished(() => own.drop());
      return {
        own,
        /** A process of it. */
        run() {
          const { observe, events } = recordEvents();
          const signal = redisSignal({ url, keys, timeoutMs: 5_000 });
          const deps = { database: own.database, observe, signal };
          const owner = createRedisOwner(deps, { renew_ms });
          const stop = new AbortController();
          let refused = 0;
          const running = owner.run(stop.signal, () => (refused += 1));
          const end = async () => {
            stop.abort();
            await running;
            await signal.close();
          };
          onTestFinished(end);
          const shared = () => events.filter(({ event }) => event === "redis_shared").length;
          return { deps, end, shared, isRefused: owner.isRefused, refused: () => refused };
        },
      };
    },
  };
}

const nonces = async ({ database }: TestDatabase) =>
  (await database.sql<{ nonce: string }[]>`SELECT unnest(nonces) AS nonce FROM atlasqueue.redis_owner`).map(
    ({ nonce }) => nonce,
  );

async function copy(from: TestDatabase, to: TestDatabase): Promise<void> {
  const [row] = await from.database
    .sql`SELECT nonces::text AS nonces, renewed_at::text AS at FROM atlasqueue.redis_owner`;
  await to.database.sql`
    INSERT INTO atlasqueue.redis_owner (nonces, renewed_at) VALUES (${row?.["nonces"]}::text::text[], ${row?.["at"]}::text::timestamptz)`;
}

test("a copy that is started at once is refused, the first database goes on, and the copy reports it once", async () => {
  const { database, redis, key } = server();
  const [first, clone] = [await database(), await database()];
  const processes = [first.run(), first.run()];
  await eventually(async () => expect(await redis.get(key)).not.toBeNull());
  await copy(first.own, clone.own);
  const late = clone.run();
  await eventually(() => expect(late.isRefused()).toBe(true));
  expect(late.refused()).toBe(1);
  expect([late.shared(), ...processes.map(({ shared }) => shared())]).toEqual([1, 0, 0]);
  expect(processes.map(({ isRefused }) => isRefused())).toEqual([false, false]);
  expect(await nonces(first.own)).toContain(await redis.get(key));
  expect([await isOthersRedis(late.deps), await isOthersRedis(processes[0]?.deps ?? late.deps)]).toEqual([true, false]);
  // As a restarted process, and as one of a new version beside the others.
  await expect(requireOwnRedis(late.deps)).rejects.toThrow("another database uses this Redis");
  await expect(requireOwnRedis(first.run().deps)).resolves.toBeUndefined();
});

test("so is a database that is no copy, and it goes on when the first one is gone", { tags: ["slow"] }, async () => {
  const { database, redis, key } = server();
  const [first, other] = [await database(), await database()];
  const early = first.run();
  await eventually(async () => expect(await redis.get(key)).not.toBeNull());
  const late = other.run();
  await eventually(() => expect(late.isRefused()).toBe(true));
  await early.end();
  await eventually(() => expect(late.isRefused()).toBe(false));
  await eventually(async () => expect(await nonces(other.own)).toContain(await redis.get(key)));
});

test("a nonce that is left of a restored or failed-over database, and a flushed Redis, are taken over silently", async () => {
  const { database, redis, key } = server();
  const one = await database();
  await redis.set(key, "lost with the old primary", "PX", 3 * renew_ms);
  const [first, second] = [one.run(), one.run()];
  await eventually(async () => expect(await nonces(one.own)).toContain(await redis.get(key)));
  await redis.del(key);
  await eventually(async () => expect(await nonces(one.own)).toContain(await redis.get(key)));
  await eventually(async () => expect((await nonces(one.own)).length).toBeGreaterThan(3));
  expect(first.shared() + second.shared()).toBe(0);
});

test("without Redis nothing is written, and with one that is away nothing fails", async () => {
  const own = await testDatabase();
  const away = await ownRedis();
  await away.stop();
  onTestFinished(() => own.drop());
  for (const signal of [memorySignal(), redisSignal({ url: away.url })]) {
    const deps = { database: own.database, observe: recordEvents().observe, signal };
    await expect(requireOwnRedis(deps)).resolves.toBeUndefined();
    const stop = new AbortController();
    const running = createRedisOwner(deps, { renew_ms: 1 }).run(stop.signal);
    stop.abort();
    await running;
    await signal.close();
  }
  expect(await nonces(own)).toEqual([]);
});
