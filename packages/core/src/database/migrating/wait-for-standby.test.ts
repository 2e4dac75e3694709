import { createDatabase, eventually, ownServers, type Servers } from "@atlasqueue/testing";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import postgres from "../driver.ts";
import { applyMissing } from "./apply-missing.ts";

// A PostgreSQL told to wait for a synchronous standby that does not exist, and a role without any privilege that migrates.

let servers: Servers;
let admin: postgres.Sql;
let sql: postgres.Sql;
let database: string;
const open = (url: string, max: number): postgres.Sql => {
  const opened = postgres(url, { max, prepare: false, onnotice: () => {} });
  onTestFinished(() => opened.end({ timeout: 0 }));
  return opened;
};
beforeAll(async () => {
  servers = await ownServers();
  const first = postgres(servers.postgres.url, { max: 1 });
  await first`CREATE ROLE plain LOGIN PASSWORD 'plain'`;
  await first.end();
});
beforeEach(async () => {
  const created = await createDatabase(servers.postgres.url);
  onTestFinished(() => created.drop());
  database = created.name;
  admin = open(created.url, 2);
  await admin.unsafe(`GRANT CREATE ON DATABASE ${database} TO plain; GRANT CREATE ON SCHEMA public TO plain;
    CREATE TABLE one (a int); ALTER TABLE one OWNER TO plain`);
  const own = new URL(created.url);
  own.username = own.password = "plain";
  sql = open(own.href, 2);
});
afterAll(() => servers.stop());

const configure = (names: string) =>
  admin.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`).then(() => admin`SELECT pg_reload_conf()`);
const waiting = (query: string) =>
  admin`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE ${query}`;
/** From now on commits wait; call the result for its return. */
async function standbyLeaves(): Promise<() => Promise<unknown>> {
  onTestFinished(async () => void (await configure("")));
  await configure("nobody");
  const prober = open(servers.postgres.url, 1);
  let probing = false;
  await eventually(async () => {
    const over = () => void (probing = false);
    if (!probing) void prober`SELECT pg_logical_emit_message(true, 'probe', '')`.then(over, over);
    probing = true;
    expect(await waiting("%probe%")).toHaveLength(1);
  });
  return () => configure("");
}
const file = (folderMillis: number, ...statements: string[]) => ({
  sql: statements,
  hash: String(folderMillis),
  folderMillis,
});

test("while the standby is away, what is applied keeps its table from nobody, and is not said to be done", async () => {
  const returns = await standbyLeaves();
  const told: string[] = [];
  let done = false;
  const files = [
    file(1, "ALTER TABLE one ADD COLUMN b int"),
    file(2, "CREATE TABLE two AS SELECT current_setting('synchronous_commit') AS commit"),
  ];
  const applying = applyMissing(sql, files, { tell: (line) => void told.push(line) }).then(() => (done = true));
  await eventually(() => expect(told).toEqual([expect.stringContaining("synchronous standby has them (nobody)")]));
  expect(await admin`SELECT b FROM one`).toEqual([]);
  expect([...(await admin`SELECT commit FROM two`)]).toEqual([{ commit: "local" }]);
  expect(done).toBe(false);
  await returns();
  await applying;
});

test("with nothing to do it does not wait for it", async () => {
  const files = [file(1, "CREATE TABLE two (a int)")];
  await applyMissing(sql, files);
  await standbyLeaves();
  await applyMissing(sql, files);
});

test("where a database's commits wait for nothing, those of its migrations do not either", async () => {
  await admin.unsafe(`ALTER DATABASE ${database} SET synchronous_commit = off`);
  await standbyLeaves();
  await applyMissing(sql, [file(1, "CREATE TABLE two AS SELECT current_setting('synchronous_commit') AS commit")]);
  expect([...(await admin`SELECT commit FROM two`)]).toEqual([{ commit: "off" }]);
});
