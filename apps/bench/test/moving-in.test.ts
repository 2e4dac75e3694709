// @module-tag slow
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createQueue, type QueueJob } from "@atlasqueue/core";
import { ownRedis, testDatabase } from "@atlasqueue/harness";
import { Queue } from "bullmq";
import { makeWorkerUtils } from "graphile-worker";
import { PgBoss } from "pg-boss";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";

// The guide's pages on moving in from other queues: their statements and their script, against those queues.
const run = promisify(execFile);
const page = (name: string) =>
  readFileSync(new URL(`../../docs/pages/migrate/${name}.md`, import.meta.url), "utf8").replaceAll(/^ {3}/gm, "");
const block = (name: string, begin: string) =>
  [...page(name).matchAll(/```(?:text|js)\n(.*?)```/gs)]
    .map(([, text = ""]) => text)
    .find((text) => text.startsWith(begin)) ?? `no block of ${name} begins with ${begin}`;
const hour_ms = 3_600_000;

/** A database, what is sent to it as psql sends it, and the jobs in it. */
async function store() {
  const { url, drop } = await testDatabase();
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  onTestFinished(async () => {
    await sql.end();
    await drop();
  });
  const jobs = () =>
    sql`SELECT type, queue, payload, priority, max_attempts, group_key, run_at > now() + interval '50 minutes' AS is_later
        FROM atlasqueue.jobs ORDER BY priority DESC`;
  return { url, sql, jobs };
}

test("a statement moves the waiting jobs of pg-boss, and leaves none behind", async () => {
  const { url, sql, jobs } = await store();
  const boss = new PgBoss(url);
  await boss.start();
  await boss.createQueue("email.send", { retryLimit: 3 });
  await boss.send("email.send", { to: "ada" });
  await boss.send("email.send", { to: "bob" }, { startAfter: new Date(Date.now() + hour_ms), priority: -2 });
  await boss.stop({ graceful: false });
  await sql.unsafe(block("from-pg-boss", "BEGIN"));
  const mail = { type: "email.send", queue: "mail", max_attempts: 4, group_key: null };
  expect([...(await jobs())]).toEqual([
    { ...mail, payload: { to: "ada" }, priority: 0, is_later: false },
    { ...mail, payload: { to: "bob" }, priority: -2, is_later: true },
  ]);
  expect([...(await sql`SELECT FROM pgboss.job WHERE name = 'email.send'`)]).toEqual([]);
});

test("a statement moves the waiting jobs of graphile-worker, serial queues as groups", async () => {
  const { url, sql, jobs } = await store();
  const utils = await makeWorkerUtils({ connectionString: url });
  await utils.migrate();
  await utils.addJob("email.send", { to: "ada" });
  const later = { queueName: "customer-7", runAt: new Date(Date.now() + hour_ms), maxAttempts: 30, priority: 3 };
  await utils.addJob("email.send", { to: "bob" }, later);
  await utils.release();
  await sql.unsafe(block("from-graphile-worker", "BEGIN"));
  const mail = { type: "email.send", queue: "mail", max_attempts: 25 };
  expect([...(await jobs())]).toEqual([
    { ...mail, payload: { to: "ada" }, priority: 0, group_key: null, is_later: false },
    { ...mail, payload: { to: "bob" }, priority: -3, group_key: "customer-7", is_later: true },
  ]);
  expect([...(await sql`SELECT FROM graphile_worker._private_jobs`)]).toEqual([]);
});

test("a script writes the waiting jobs of BullMQ as lines that can be submitted, twice too", async () => {
  const { url, jobs } = await store();
  const redis = await ownRedis();
  onTestFinished(() => redis.stop());
  const old = new Queue("mail", { connection: { url: redis.url } });
  await old.add("email.send", { to: "ada" });
  await old.add("email.send", { to: "bob" }, { delay: hour_ms, attempts: 3, priority: 2_000 });
  await old.close();
  // Where the packages are found by name.
  const file = fileURLToPath(new URL(`../node_modules/export-${process.pid}.mjs`, import.meta.url));
  onTestFinished(() => rmSync(file));
  writeFileSync(file, block("from-bullmq", "// export.mjs"));
  const queue = createQueue({ databaseUrl: url });
  onTestFinished(() => queue.close());
  for (const _ of [1, 2]) {
    const { stdout } = await run(process.execPath, [file, "mail"], {
      env: { ...process.env, OLD_REDIS_URL: redis.url },
    });
    for (const line of stdout.trim().split("\n")) await queue.submit(JSON.parse(line) as QueueJob);
  }
  const mail = { type: "email.send", queue: "mail", group_key: null };
  expect([...(await jobs())]).toEqual([
    { ...mail, payload: { to: "ada" }, priority: 0, max_attempts: 1, is_later: false },
    { ...mail, payload: { to: "bob" }, priority: -1_000, max_attempts: 3, is_later: true },
  ]);
});
