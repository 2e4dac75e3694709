import { createDatabase, eventually, postgresUrl, tcpProxy, type CreatedDatabase } from "@atlasqueue/harness";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { appliedIn, file } from "../../../test/migrating.ts";
import postgres from "../driver.ts";
import { migrateDatabase } from "../migrate.ts";
import { applyMissing } from "./apply-missing.ts";

let created: CreatedDatabase;
let sql: postgres.Sql;
const connect = (url: string): postgres.Sql => {
  const opened = postgres(url, { max: 3, onnotice: () => {}, prepare: false });
  onTestFinished(() => opened.end({ timeout: 0 }));
  return opened;
};
beforeEach(async () => {
  created = await createDatabase(postgresUrl());
  onTestFinished(() => created.drop());
  sql = connect(created.url);
});

const lock = `SELECT pg_advisory_xact_lock(${0x41746c617351})`;
const applied = () => appliedIn(sql);
const running = async (statement: string) =>
  sql<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query = ${statement}`;

test("a server's own limits of time end neither a long file nor its waiters", { tags: ["nightly"] }, async () => {
  const [known] = await sql`SELECT FROM pg_settings WHERE name = 'transaction_timeout'`;
  const limits = [
    "idle_in_transaction_session_timeout",
    "statement_timeout",
    ...(known ? ["transaction_timeout"] : []),
  ];
  for (const limit of limits) await sql.unsafe(`ALTER DATABASE ${created.name} SET ${limit} = '4s'`);
  // What was read before the turn came would be taken for the newest.
  await sql.unsafe(`ALTER DATABASE ${created.name} SET default_transaction_isolation = 'serializable'`);
  const files = [
    file(1, "CREATE TABLE one AS SELECT name, setting FROM pg_settings WHERE name LIKE '%\\_timeout'"),
    file(2, "CREATE TABLE two (a int)", "SELECT pg_sleep(5)"),
    file(3, "CREATE TABLE three (a int)"),
  ];
  await Promise.all([1, 2, 3].map(() => applyMissing(connect(created.url), files)));
  expect(await applied()).toEqual(["1", "2", "3"]);
  const ours = await sql<
    { name: string; setting: string }[]
  >`SELECT * FROM one WHERE name = ANY(${limits}) ORDER BY name`;
  // A transaction that rests is not idle for as long as it rests; one whose process stands still is.
  expect(ours.map(({ setting }) => setting)).toEqual(["10000", "0", ...(known ? ["0"] : [])]);
});

test("what another one applied up to the moment of the turn is seen, the account itself included", async () => {
  const files = [file(1, "CREATE TABLE one (a int)")];
  // The other one ends while the server works on our question for the turn. Shortly after it is the same to the server's
  // process, which believes that a schema is missing until it has locked something else.
  const end = () =>
    sql.unsafe(`
    CREATE SCHEMA atlasqueue;
    CREATE TABLE atlasqueue.migrations (id serial, hash text, created_at bigint);
    INSERT INTO atlasqueue.migrations (hash, created_at) VALUES ('1', 1)`);
  let ending: Promise<unknown> | undefined;
  const ended = () => (ending ??= end());
  const own = connect(created.url);
  const begin = (how: string, work: (tx: postgres.TransactionSql) => Promise<unknown>) =>
    own.begin(how, (tx) => {
      const unsafe = async (...question: Parameters<typeof tx.unsafe>) => {
        const answer = await tx.unsafe(...question);
        await ended();
        return answer;
      };
      return work(new Proxy(tx, { get: (_, name) => (name === "unsafe" ? unsafe : Reflect.get(tx, name)) }));
    });
  await applyMissing(new Proxy(own, { get: (_, name) => (name === "begin" ? begin : Reflect.get(own, name)) }), files);
  expect(await applied()).toEqual(["1"]);
});

test("one that is killed leaves its file to another, whole", async () => {
  const files = [file(1, "CREATE TABLE one (a int)"), file(2, "CREATE TABLE two (a int)", "SELECT pg_sleep(600)")];
  const killed = applyMissing(connect(created.url), files).catch((error: unknown) => error);
  const [{ pid = 0 } = {}] = await eventually(async () => {
    const found = await running("SELECT pg_sleep(600)");
    return found.length > 0 && found;
  });
  const told: string[] = [];
  const mended = [files[0] as (typeof files)[0], file(2, "CREATE TABLE two (a int)")];
  const next = applyMissing(connect(created.url), mended, { tell: (line) => void told.push(line) });
  await eventually(() => expect(told).toEqual([expect.stringContaining("another process")]));
  await sql`SELECT pg_terminate_backend(${pid})`;
  await next;
  expect(await killed).toBeInstanceOf(Error);
  expect(await applied()).toEqual(["1", "2"]);
});

test("one that stands still in the middle of a file holds it for seconds only", { tags: ["slow"] }, async () => {
  const proxy = await tcpProxy(created.url);
  onTestFinished(() => proxy.close());
  const pause = "SELECT pg_sleep(0.5)";
  const files = [file(1, "CREATE TABLE one (a int)", pause, "CREATE TABLE two (a int)")];
  const frozen = applyMissing(connect(proxy.url), files).catch((error: unknown) => error);
  await eventually(async () => expect(await running(pause)).toHaveLength(1));
  proxy.blackhole();
  await applyMissing(connect(created.url), files);
  expect(await applied()).toEqual(["1"]);
  proxy.reset();
  expect(await frozen).toBeInstanceOf(Error);
  expect(await applied()).toEqual(["1"]);
});

test("one that stands still while it notes what it did holds it for seconds", { tags: ["nightly"] }, async () => {
  await sql`CREATE TABLE one (a int)`;
  const proxy = await tcpProxy(created.url);
  onTestFinished(() => proxy.close());
  const still = new Promise<void>((resolve) =>
    proxy.splitQuestions((piece) => {
      if (piece.includes("INSERT INTO atlasqueue.")) void proxy.freezeAfterQuestions(1).then(resolve);
      return [piece];
    }),
  );
  const files = [file(1, "ALTER TABLE one ADD COLUMN b int")];
  const frozen = applyMissing(connect(proxy.url), files).catch((error: unknown) => error);
  await still;
  await eventually(() => sql.begin((tx) => tx`LOCK TABLE one IN ACCESS SHARE MODE NOWAIT`));
  await applyMissing(connect(created.url), files);
  expect(await applied()).toEqual(["1"]);
  proxy.reset();
  expect(await frozen).toBeInstanceOf(Error);
});

test("with nothing to do it returns at once, whoever else migrates", async () => {
  await migrateDatabase(created.url);
  await sql.begin(async (other) => {
    await other.unsafe(lock);
    await migrateDatabase(created.url);
  });
});

test("told to stop while another process has the turn, it ends", async () => {
  const stopping = new AbortController();
  const told: string[] = [];
  await sql.begin(async (other) => {
    await other.unsafe(lock);
    const { signal: stop } = stopping;
    const migrating = migrateDatabase(created.url, { stop, tell: (line) => void told.push(line) });
    await eventually(() => expect(told).toEqual([expect.stringContaining("another process")]));
    stopping.abort(new Error("enough"));
    await expect(migrating).rejects.toThrow("enough");
    await expect(migrateDatabase(created.url, { stop })).rejects.toThrow("enough");
  });
});

test("told to stop while the server does not answer, it ends", async () => {
  const proxy = await tcpProxy(created.url);
  onTestFinished(() => proxy.close());
  proxy.blackhole();
  const stopping = new AbortController();
  const migrating = migrateDatabase(proxy.url, { stop: stopping.signal }).catch((error: unknown) => error);
  await eventually(() => proxy.accepted() > 0);
  stopping.abort(new Error("enough"));
  expect(await migrating).toEqual(new Error("enough"));
});
