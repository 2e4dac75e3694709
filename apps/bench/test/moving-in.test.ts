// @module-tag nightly
import { readFileSync } from "node:fs";
import { testDatabase } from "@atlasqueue/harness";
import { makeWorkerUtils } from "graphile-worker";
import { PgBoss } from "pg-boss";
import { expect, onTestFinished, test } from "vitest";

// The guide's pages on moving in from other queues: their statements, against those queues.
const hour_ms = 3_600_000;

/** The block of a page that begins so, without the indent of its list. */
function block(name: string, begin: string): string {
  const page = readFileSync(new URL(`../../docs/pages/migrate/${name}.md`, import.meta.url), "utf8");
  const blocks = page.replaceAll(/^ {3}/gm, "").matchAll(/```text\n(.*?)```/gs);
  return [...blocks].map(([, text = ""]) => text).find((text) => text.startsWith(begin)) ?? "no such block";
}

/** What is waiting after a move. */
const waiting = (to: string, priority: number, max_attempts: number, group_key: string | null = null) => {
  return { payload: { to }, priority, max_attempts, group_key, is_later: to === "bob" };
};

async function store() {
  const { url, drop, database } = await testDatabase();
  onTestFinished(drop);
  const { sql } = database;
  const paste = (text: string) => sql.begin((tx) => tx.unsafe(text.replaceAll(/^(BEGIN|COMMIT);$/gm, "")));
  const jobs = async () => [
    ...(await sql`SELECT payload, priority, max_attempts, group_key, run_at > now() + interval '50 minutes' AS is_later
                  FROM atlasqueue.jobs WHERE type = 'email.send' AND queue = 'mail' ORDER BY priority DESC`),
  ];
  return { url, sql, paste, jobs };
}

test("a statement moves the waiting jobs of pg-boss, and leaves none behind", async () => {
  const { url, sql, paste, jobs } = await store();
  const boss = new PgBoss(url);
  await boss.start();
  await boss.createQueue("email.send", { retryLimit: 3 });
  await boss.send("email.send", { to: "ada" });
  await boss.send("email.send", { to: "bob" }, { startAfter: new Date(Date.now() + hour_ms), priority: -2 });
  await boss.stop({ graceful: false });
  await paste(block("from-pg-boss", "BEGIN"));
  expect(await jobs()).toEqual([waiting("ada", 0, 4), waiting("bob", -2, 4)]);
  expect([...(await sql`SELECT FROM pgboss.job WHERE name = 'email.send'`)]).toEqual([]);
});

test("a statement moves the waiting jobs of graphile-worker, serial queues as groups", async () => {
  const { url, sql, paste, jobs } = await store();
  const utils = await makeWorkerUtils({ connectionString: url });
  await utils.migrate();
  await utils.addJob("email.send", { to: "ada" });
  const later = { queueName: "customer-7", runAt: new Date(Date.now() + hour_ms), maxAttempts: 30, priority: 3 };
  await utils.addJob("email.send", { to: "bob" }, later);
  await utils.release();
  await paste(block("from-graphile-worker", "BEGIN"));
  expect(await jobs()).toEqual([waiting("ada", 0, 25), waiting("bob", -3, 25, "customer-7")]);
  expect([...(await sql`SELECT FROM graphile_worker._private_jobs`)]).toEqual([]);
});
