import type { Job } from "@atlasqueue/client";
import { createDatabase, forFile, ownRedis, postgresUrl } from "@atlasqueue/harness";
import { FlowProducer, Queue, Worker } from "bullmq";
import { PgBoss } from "pg-boss";
import { expect, onTestFinished, test } from "vitest";
import { cliSystem } from "../../test/run-cli.ts";
import type { Imported } from "./import.ts";

// From the real queues: BullMQ on a Redis of its own, and pg-boss on a database of its own.
const system = forFile(cliSystem);

const hour_ms = 3_600_000;

async function imported(...words: string[]): Promise<Imported & { code: number }> {
  const { code, stdout, stderr } = await system.run("import", ...words, "--json");
  expect(stderr).toBe("");
  return { ...(JSON.parse(stdout) as Imported), code };
}
const jobsOf = async (queue: string) => {
  const jobs: Job[] = [];
  for await (const job of system.client.list({ queue })) jobs.push(job);
  return jobs.toSorted((a, b) => (a.type < b.type ? -1 : 1));
};

async function bullmq(name = "mail"): Promise<{ url: string; queue: Queue }> {
  const redis = await ownRedis();
  onTestFinished(() => redis.stop());
  const queue = new Queue(name, { connection: { url: redis.url } });
  onTestFinished(() => queue.close());
  return { url: redis.url, queue };
}

test("BullMQ's waiting jobs and schedulers are imported once", { tags: ["slow"] }, async () => {
  const { url, queue } = await bullmq();
  const connection = { url };
  await queue.add("a-waiting", { to: "ada" }, { attempts: 3, backoff: { type: "exponential", delay: 1_000 } });
  const due = Date.now() + hour_ms;
  await queue.add("b-delayed", {}, { delay: hour_ms, jobId: "welcome-17" });
  await queue.add("c-prioritised", {}, { priority: 7, attempts: 40 });
  await queue.upsertJobScheduler("nightly", { pattern: "0 15 3 * * *", tz: "Europe/Berlin" }, { name: "report" });
  await queue.upsertJobScheduler("often", { every: 7_000 }, { name: "tick" });
  await queue.add("x-list", [1, 2]);
  await queue.add("x-backoff", {}, { attempts: 2, backoff: { type: "mine" } });
  const flows = new FlowProducer({ connection });
  onTestFinished(() => flows.close());
  await flows.add({ name: "x-top", queueName: "mail", children: [{ name: "x-child", queueName: "mail" }] });

  const from = ["bullmq", "--redis", url, "--queue", "mail"];
  const dry = await imported(...from, "--dry-run");
  // The scheduler that runs every 7 s has made its first job.
  const found = { waiting: 2, prioritized: 1, delayed: 1, scheduled: 1 };
  expect(dry).toMatchObject({ code: 1, found, created: 0, schedules: 0 });
  expect(dry.left.map(({ count }) => count).reduce((sum, one) => sum + one)).toBe(5);
  expect(dry.left.map(({ reason }) => reason)).toEqual(
    expect.arrayContaining([
      "Data that is no object has no counterpart",
      'The backoff "mine" has no counterpart',
      "It belongs to a flow. Let the flow end.",
      "It waits for other jobs of a flow. Let the flow end.",
      "every: 7000 has no counterpart",
    ]),
  );
  expect(await jobsOf("mail")).toEqual([]);

  expect(await imported(...from)).toMatchObject({ created: 4, already_there: 0, schedules: 1 });
  expect(await imported(...from)).toMatchObject({ created: 0, already_there: 4, schedules: 1 });
  expect(await jobsOf("mail")).toMatchObject([
    { type: "a-waiting", status: "queued", payload: { to: "ada" }, max_attempts: 3, priority: 0 },
    { type: "b-delayed", status: "scheduled", max_attempts: 1 },
    { type: "c-prioritised", status: "queued", max_attempts: 25, priority: -7 },
    { type: "tick" },
  ]);
  const [delayed] = (await system.client.page({ key: "bullmq:mail:welcome-17" })).items;
  expect(Math.abs(Date.parse(delayed?.run_at ?? "") - due)).toBeLessThan(60_000);
  expect(await system.client.schedules.get("mail:nightly")).toMatchObject({
    cron: "15 3 * * *",
    timezone: "Europe/Berlin",
    job: { type: "report", queue: "mail" },
  });
  expect(await queue.getJobCountByTypes("waiting", "delayed", "prioritized")).toBeGreaterThanOrEqual(7);
});

test("jobs come in pages, each once, without those that run", { tags: ["slow"] }, async () => {
  const { url, queue } = await bullmq("pages");
  await queue.add("running", {});
  const over = Promise.withResolvers<void>();
  const worker = new Worker("pages", () => over.promise, { connection: { url } });
  onTestFinished(() => worker.close());
  onTestFinished(() => over.resolve());
  await new Promise((resolve) => worker.once("active", resolve));
  await queue.addBulk(Array.from({ length: 1_200 }, (_, n) => ({ name: "page", data: { n } })));
  const { left, ...result } = await imported("bullmq", "--redis", url, "--queue", "pages");
  expect(result).toMatchObject({ found: { waiting: 1_200 }, created: 1_200 });
  expect(left).toMatchObject([{ count: 1, reason: "It is running. Let its worker end it." }]);
  const numbers = (await jobsOf("pages")).map(({ payload }) => Number(payload["n"]));
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1_200 }, (_, n) => n));
});

test("pg-boss's waiting jobs and schedules are imported once", { tags: ["slow"] }, async () => {
  const { url, drop } = await createDatabase(postgresUrl());
  onTestFinished(drop);
  const boss = new PgBoss({ connectionString: url, schema: "old" });
  await boss.start();
  await boss.createQueue("email.send", { retryLimit: 3, retryDelay: 4, retryBackoff: true });
  await boss.createQueue("other");
  await boss.send("email.send", { to: "ada" });
  await boss.send("email.send", { to: "bob" }, { startAfter: new Date(Date.now() + hour_ms), priority: -2 });
  await boss.send("other", {});
  await boss.schedule("email.send", "15 3 * * *", { full: true }, { tz: "Europe/Berlin" });
  await boss.fetch("other");
  await boss.stop({ graceful: false });

  const from = ["pg-boss", "--database", url, "--schema", "old"];
  const found = { waiting: 1, delayed: 1, scheduled: 1 };
  expect(await imported(...from, "--dry-run")).toMatchObject({ code: 1, found, created: 0, left: [{ count: 1 }] });
  const queue = ["--queue", "email.send"];
  expect(await imported(...from, ...queue)).toMatchObject({ code: 0, created: 2, schedules: 1, left: [] });
  expect(await imported(...from, ...queue)).toMatchObject({ code: 0, created: 0, already_there: 2, schedules: 1 });
  const jobs = await jobsOf("email.send");
  expect(jobs.toSorted((a, b) => b.priority - a.priority)).toMatchObject([
    { type: "email.send", payload: { to: "ada" }, status: "queued", max_attempts: 4, priority: 0 },
    { type: "email.send", payload: { to: "bob" }, status: "scheduled", max_attempts: 4, priority: -2 },
  ]);
  expect(await system.client.schedules.get("email.send")).toMatchObject({
    cron: "15 3 * * *",
    timezone: "Europe/Berlin",
  });
});

test("a source that is not there is one line", async () => {
  const { url } = await bullmq();
  const missing = await system.run("import", "bullmq", "--redis", url, "--queue", "none");
  expect(missing).toMatchObject({ code: 1, stdout: "" });
  expect(missing.stderr).toMatch(/^Redis has no BullMQ queue "none" with the prefix "bull"\. .*\n$/);
  const closed = await system.run("import", "bullmq", "--redis", "redis://127.0.0.1:1", "--queue", "none");
  expect(closed.stderr).toMatch(/^The Redis of BullMQ cannot be reached: .*\n$/);
  const schema = await system.run("import", "pg-boss", "--database", system.store.url);
  expect(schema.stderr).toMatch(/^The schema pgboss has no tables of pg-boss\. .*\n$/);
});
