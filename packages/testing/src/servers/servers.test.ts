import { Redis } from "ioredis";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "./create-database.ts";
import { ownServers } from "./servers.ts";
import { postgresUrl, redisUrl, uniqueKeys } from "./shared-servers.ts";
import { startStandby } from "./standby.ts";

function connect(url: string) {
  const sql = postgres(url, { max: 1 });
  // A dropped database ends its connections, so this one may already be gone.
  onTestFinished(() => sql.end({ timeout: 1 }).catch(() => {}));
  return sql;
}

test("a database can be copied from another, and dropped while in use", async () => {
  const first = await createDatabase(postgresUrl());
  onTestFinished(() => first.drop());
  const sql = connect(first.url);
  await sql`create table kept as select 1 as number`;
  await sql.end();

  const copy = await createDatabase(postgresUrl(), first.name);
  const copied = connect(copy.url);
  expect(await copied`select number from kept`).toEqual([{ number: 1 }]);
  await copy.drop();
  await copy.drop();
  await expect(connect(copy.url)`select 1`).rejects.toThrow("does not exist");
});

test("the shared Redis is there, and keys don't meet", async () => {
  const redis = new Redis(redisUrl());
  onTestFinished(() => redis.disconnect());
  expect(await redis.ping()).toBe("PONG");
  expect(uniqueKeys()).not.toEqual(uniqueKeys());
});

test("own servers differ from the shared ones, and go away", async () => {
  const { postgres: own, redis, stop } = await ownServers();
  onTestFinished(stop);
  expect(own.url).not.toBe(postgresUrl());
  expect(redis.url).not.toBe(redisUrl());
  expect(await connect(own.url)`select 1 as one`).toEqual([{ one: 1 }]);
  await stop();
  expect(() => process.kill(own.pid, 0)).toThrow("ESRCH");
  expect(() => process.kill(redis.pid, 0)).toThrow("ESRCH");
});

test("a standby follows its server, and takes writes when it is promoted", { tags: ["slow"] }, async () => {
  const servers = await ownServers();
  onTestFinished(() => servers.stop());
  const sql = connect(servers.postgres.url);
  await sql`create table kept (number int)`;
  const standby = await startStandby(servers.postgres);
  onTestFinished(() => standby.stop());
  await standby.makeSynchronous();
  await sql`insert into kept values (1)`;
  await standby.catchUp();
  const there = connect(standby.postgres.url);
  expect(await there`select number from kept`).toEqual([{ number: 1 }]);
  await expect(there`insert into kept values (2)`).rejects.toThrow("read-only");
  await standby.promote();
  expect(await there`insert into kept values (2) returning number`).toEqual([{ number: 2 }]);
});
