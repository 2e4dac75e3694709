import { createDatabase, eventually } from "@atlasqueue/harness";
import { createLogger, createQueue, migrateDatabase, type QueueJob } from "@atlasqueue/core";
import { Redis } from "ioredis";
import postgres from "postgres";
import { createWorker, defineHandler } from "@atlasqueue/worker";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";

const names = ["jobs", "tokens", "sessions", "tenants", "queues", "schedules", "flows", "job_state", "migrations"];

/** A database of an application that has tables of our names, whose role looks elsewhere first. */
export async function applicationsDatabase(server_url: string) {
  const created = await createDatabase(server_url);
  const role = `application_${process.pid}`;
  const admin = postgres(created.url, { max: 1, onnotice: () => {} });
  await admin.unsafe(`
    CREATE ROLE ${role} LOGIN PASSWORD 'application';
    GRANT CREATE ON DATABASE ${created.name} TO ${role};
    GRANT CREATE ON SCHEMA public TO ${role};
    CREATE SCHEMA something_else AUTHORIZATION ${role};
    ALTER ROLE ${role} SET search_path = something_else, public`);
  const url = Object.assign(new URL(created.url), { username: role, password: "application" }).href;
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  for (const schema of ["public", "something_else", "drizzle"]) {
    if (schema === "drizzle") await sql`CREATE SCHEMA drizzle`;
    for (const name of [...names, "__drizzle_migrations"])
      await sql.unsafe(`
        CREATE TABLE ${schema}.${name} (id int, hash text, created_at bigint);
        INSERT INTO ${schema}.${name} VALUES (1, 'theirs', 1)`);
  }
  onTestFinished(async () => {
    await sql.end();
    await created.drop();
    await admin.end().catch(() => {});
    const server = postgres(server_url, { max: 1, onnotice: () => {} });
    await server.unsafe(`DROP ROLE ${role}`);
    await server.end();
  });
  const theirs = async () => {
    const rows = [];
    for (const schema of ["public", "something_else", "drizzle"]) {
      const tables = await sql<{ name: string }[]>`
        SELECT tablename AS name FROM pg_tables WHERE schemaname = ${schema} ORDER BY tablename`;
      for (const { name } of tables)
        rows.push([schema, name, ...(await sql`SELECT * FROM ${sql(`${schema}.${name}`)}`)]);
    }
    return rows;
  };
  return { url, sql, theirs };
}

const job = (type: string): QueueJob => ({ type, idempotency_key: "once", unique: { key: "u" }, group: "g" });

type ApplicationsDatabase = Awaited<ReturnType<typeof applicationsDatabase>>;

/**
 * Runs two queues in two schemas of an application's database, and checks that both do their work and its tables stay
 * as they are. `url` leads to the database, or to a pooler in front of it.
 */
export async function twoQueues({ theirs }: ApplicationsDatabase, url: string, redis_url: string): Promise<void> {
  const sql = postgres(url, { max: 1, prepare: false, onnotice: () => {} });
  onTestFinished(() => sql.end());
  const before = await theirs();
  expect(before).toHaveLength(3 * (names.length + 1));
  const redis = new Redis(redis_url);
  onTestFinished(() => void redis.disconnect());
  // Keys of other tests are in the same Redis.
  const schemas = [`one_${process.pid}`, `Odd-${process.pid}`];
  const ran: string[] = [];
  for (const schema of schemas) {
    await migrateDatabase(url, { schema });
    const common = { databaseUrl: url, schema, redisUrl: redis_url };
    const queue = createQueue(common);
    onTestFinished(() => queue.close());
    const handler = defineHandler("who", z.looseObject({}), async (_payload, { step }) => {
      await step("kept", async () => 1);
      ran.push(schema);
    });
    const logger = createLogger("silent", "test");
    const worker = createWorker({ ...common, handlers: [handler], logger });
    onTestFinished(() => worker.stop({ deadlineMs: 0 }));
    const inside = await sql.begin((tx) => queue.submitIn(tx, { type: "who" }));
    await queue.announce(inside);
    expect(await queue.submit(job("who"))).toMatchObject({ created: true });
    expect(await queue.submit(job("who"))).toMatchObject({ created: false });
    await queue.submitFlow({
      jobs: [
        { ref: "a", type: "who" },
        { type: "who", depends_on: ["a"] },
      ],
    });
    await queue.schedules.put({ name: "nightly", cron: "0 3 * * *", timezone: "UTC", job: { type: "who" } });
    await eventually(() => expect(ran.filter((one) => one === schema)).toHaveLength(4));
  }
  for (const schema of schemas) {
    const count = (table: string) => sql`SELECT FROM ${sql(`${schema}.${table}`)}`.then((rows) => rows.length);
    await eventually(async () =>
      expect(await sql`SELECT DISTINCT status FROM ${sql(`${schema}.jobs`)}`).toEqual([{ status: "succeeded" }]),
    );
    expect([
      await count("jobs"),
      await count("schedules"),
      await count("flow_jobs"),
      await count("migrations"),
    ]).toEqual([4, 1, 2, 1]);
    const keys = await redis.keys(`${schema}:*`);
    expect(keys.every((key) => key.startsWith(`${schema}:jobs`) || key.startsWith(`${schema}:dlq`))).toBe(true);
    if (keys.length > 0) await redis.del(keys);
  }
  expect(await theirs()).toEqual(before);
}
