import { forFile, ownRedis } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { cliSystem } from "../../test/run-cli.ts";
import { importQueue, type Imported } from "./import.ts";
import type { Found } from "./source.ts";

// States that take a real queue long to reach, written as it stores them.
const system = forFile(cliSystem);

async function bullmq(queue: string) {
  const server = await ownRedis();
  onTestFinished(() => server.stop());
  const redis = new Redis(server.url);
  onTestFinished(() => redis.disconnect());
  await redis.hset(`bull:${queue}:meta`, "version", "bullmq:6.7.0");
  const run = () => system.run("import", "bullmq", "--redis", server.url, "--queue", queue, "--json");
  return { redis, run };
}

test("a scheduler's job that failed is imported, its next one is not", async () => {
  const { redis, run } = await bullmq("retried");
  for (const [id, atm] of Object.entries({ "repeat:nightly:1": 1, "repeat:nightly:2": 0 })) {
    await redis.hset(`bull:retried:${id}`, { name: id, data: "{}", opts: '{"attempts":3}', atm });
    await redis.zadd("bull:retried:delayed", (Date.now() + 3_600_000) * 4_096, id);
  }
  expect(JSON.parse((await run()).stdout)).toMatchObject({ found: { delayed: 1 }, created: 1 });
  const { items } = await system.client.page({ queue: "retried" });
  expect(items).toMatchObject([{ type: "repeat:nightly:1", max_attempts: 2 }]);
});

test("a jobId that BullMQ forgets with its job is unique after the import", async () => {
  const { redis, run } = await bullmq("forgotten");
  await redis.hset("bull:forgotten:one", { name: "a", data: "{}", opts: '{"jobId":"one","removeOnComplete":true}' });
  await redis.lpush("bull:forgotten:wait", "one");
  expect(JSON.parse((await run()).stdout)).toMatchObject({ created: 1 });
  const again = await system.client.submit({ type: "a", queue: "forgotten", payload: {}, unique: { key: "one" } });
  expect(again.created).toBe(false);
});

test("a job that Redis cannot read ends the import with what was done", async () => {
  const { redis, run } = await bullmq("broken");
  await redis.hset("bull:broken:good", { name: "good", data: "{}", opts: "{}" });
  await redis.lpush("bull:broken:paused", "good", "bad");
  await redis.set("bull:broken:bad", "no hash");
  const { code, stdout, stderr } = await run();
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { source: "BullMQ queue broken" }]);
  expect(stderr).toMatch(/^BullMQ queue broken cannot be read: .*WRONGTYPE.*; run the command again\n$/);
});

test("a retry that pg-boss has not counted yet is counted", async () => {
  const { sql } = system.store.database;
  await sql`CREATE SCHEMA made_up`;
  await sql`CREATE TABLE made_up.queue (name text)`;
  await sql`CREATE TABLE made_up.schedule (name text)`;
  await sql`
    CREATE TABLE made_up.job AS
    SELECT gen_random_uuid() AS id, 'boss' AS name, state, '{}'::jsonb AS data, priority, 5 AS retry_limit,
      retry_count, 1 AS retry_delay, false AS retry_backoff, NULL::text AS singleton_key, now() AS start_after
    FROM (VALUES ('created', 0, 0), ('retry', 1, 0), ('retry', 2, 1)) AS v (state, priority, retry_count)`;
  const { code } = await system.run("import", "pg-boss", "--database", system.store.url, "--schema", "made_up");
  expect(code).toBe(0);
  const { items } = await system.client.page({ queue: "boss" });
  const attempts = items.toSorted((a, b) => a.priority - b.priority).map(({ max_attempts }) => max_attempts);
  expect(attempts).toEqual([6, 5, 4]);
});

test("an import that ends early prints what it has done", async () => {
  async function* read(): AsyncGenerator<Found> {
    yield { kind: "left", id: "17", reason: "It is running." };
    yield { kind: "job", id: "18", state: "waiting", job: { type: "a", queue: "early", payload: {} } };
    throw new Error("Connection is closed.");
  }
  const source = { name: "a queue", read, close: async () => {} };
  const target = { url: system.api.url, patience_ms: 5_000 };
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  const running = importQueue({ source, target, dry_run: false, json: true, write });
  await expect(running).rejects.toThrow("a queue cannot be read: Error: Connection is closed.; run the command again");
  expect(written.map((text) => JSON.parse(text) as Imported)).toMatchObject([{ created: 1, left: [{ ids: ["17"] }] }]);
});
