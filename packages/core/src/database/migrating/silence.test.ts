import { createDatabase, postgresUrl, tcpProxy, type TcpProxy } from "@atlasqueue/testing";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import postgres from "../driver.ts";
import { applyMissing } from "./apply-missing.ts";
import { connectMigrator } from "./connect.ts";

// The server's machine loses its power, or a firewall forgets the connections: nobody says so.

const silence_ms_max = 1_000;
let url: string;
let sql: postgres.Sql;
let proxy: TcpProxy;
const told: string[] = [];
beforeEach(async () => {
  told.length = 0;
  const created = await createDatabase(postgresUrl());
  onTestFinished(() => created.drop());
  url = created.url;
  sql = postgres(url, { max: 3, onnotice: () => {} });
  onTestFinished(() => sql.end({ timeout: 0 }));
  proxy = await tcpProxy(url);
  onTestFinished(() => proxy.close());
  await sql`CREATE TABLE one (a int)`;
});

/** Applies files through connections to this URL, and returns once they are. */
async function migrate(to: string, ...statements: string[]): Promise<void> {
  const migrator = connectMigrator(to, silence_ms_max);
  onTestFinished(() => migrator.sql.end({ timeout: 0 }));
  const { watch } = migrator;
  const files = [{ sql: statements, hash: "1", folderMillis: 1 }];
  await applyMissing(migrator.sql, files, { watch, tell: (line) => void told.push(line) });
}
/**
 * Silent for good from just before it is asked this, and the server has no more of its connections then. New ones are
 * served if it `serves` any.
 */
function silentAt(question: string, { serves }: { serves: boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    let silent = false;
    proxy.splitQuestions((piece) => {
      if (silent || !piece.includes(question)) return [piece];
      silent = true;
      proxy.blackhole();
      if (serves) proxy.heal();
      void endOlderThan(new Date()).then(() => resolve(), reject);
      return [piece];
    });
  });
}
const endOlderThan = (at: Date) => sql`
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND backend_start < ${at} AND state = 'idle in transaction' AND query NOT LIKE 'LOCK%'`;
/** Somebody has the table until then, so that the migrator rests before a try. */
async function heldUntil(then: Promise<void>, work: () => Promise<void>): Promise<void> {
  let working: Promise<void> | undefined;
  await sql.begin(async (tx) => {
    await tx`LOCK TABLE one`;
    working = work();
    await then;
  });
  await working;
}
const addColumn = "ALTER TABLE one ADD COLUMN b int";
const columns = async () => (await sql`SELECT * FROM one`).columns.map(({ name }) => name);

test.each([
  ["it begins", "begin isolation"],
  ["it asks for its turn", "pg_try_advisory_xact_lock"],
  ["it rests", "SELECT 1\0"],
  ["it reads what is missing", "FROM pg_namespace"],
  ["it writes down what it did", "INSERT INTO atlasqueue."],
  ["it commits", "commit\0"],
])(
  "a firewall forgets its connections while %s: it goes on over others",
  { tags: ["slow"] },
  async (moment, question) => {
    const silent = silentAt(question, { serves: true });
    await heldUntil(moment === "it rests" ? silent : Promise.resolve(), () => migrate(proxy.url, addColumn));
    expect(await columns()).toEqual(["a", "b"]);
    expect(told).toContain("the database did not answer; connecting anew");
  },
);

test("a commit whose answer never comes is found to be done", async () => {
  proxy.splitQuestions((piece) => {
    if (!piece.includes("commit\0")) return [piece];
    proxy.blackhole("answers");
    proxy.heal();
    return [piece];
  });
  await migrate(proxy.url, addColumn);
  expect(await columns()).toEqual(["a", "b"]);
  expect(await sql`SELECT FROM atlasqueue.migrations`).toHaveLength(1);
});

test(
  "the machine of its server is gone while it rests: it goes on at the host that takes writes",
  { tags: ["slow"] },
  async () => {
    const { username, password, port, pathname } = new URL(url);
    const hosts = `127.0.0.1:${proxy.port},127.0.0.1:${port}`;
    const to = `postgres://${username}:${password}@${hosts}${pathname}`;
    await heldUntil(silentAt("SELECT 1\0", { serves: false }), () => migrate(to, addColumn));
    expect(await columns()).toEqual(["a", "b"]);
  },
);

test("a file's own statement may take longer than that", { tags: ["slow"] }, async () => {
  await migrate(proxy.url, `SELECT pg_sleep(${(3 * silence_ms_max) / 1_000})`, addColumn);
  expect(await columns()).toEqual(["a", "b"]);
});
