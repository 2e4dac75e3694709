import { createDatabase, eventually, forFile, ownServers } from "@atlasqueue/harness";
import { beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { appliedIn, file } from "../../../test/migrating.ts";
import postgres from "../driver.ts";
import { applyMissing } from "./apply-missing.ts";

// The migrations have a role of their own, which sees little of others.

const servers = forFile(ownServers);
let admin: postgres.Sql;
let sql: postgres.Sql;
let application: postgres.Sql;
let url: (role?: string) => string;
beforeAll(async () => {
  const first = postgres(servers.postgres.url, { max: 1, onnotice: () => {} });
  await first`ALTER SYSTEM SET autovacuum_naptime = '1s'`;
  await first`SELECT pg_reload_conf()`;
  await first`CREATE ROLE plain LOGIN PASSWORD 'plain'`;
  await first`CREATE ROLE application LOGIN PASSWORD 'application'`;
  await first.end();
});
beforeEach(async () => {
  const created = await createDatabase(servers.postgres.url);
  onTestFinished(() => created.drop());
  url = (role) => {
    const as = new URL(created.url);
    if (role !== undefined) as.username = as.password = role;
    return as.href;
  };
  const open = (max: number, role?: string) => {
    const opened = postgres(url(role), { max, onnotice: () => {} });
    onTestFinished(() => opened.end({ timeout: 0 }));
    return opened;
  };
  admin = open(1);
  await admin.unsafe(`GRANT CREATE ON DATABASE ${created.name} TO plain; GRANT CREATE ON SCHEMA public TO plain`);
  sql = open(2, "plain");
  application = open(1, "application");
});

const applied = () => appliedIn(sql);

test(
  "a migration does not wait for the end of an autovacuum, which gives way to it",
  { tags: ["nightly"] },
  async () => {
    // As slow as it may be: it would take minutes.
    await sql`CREATE TABLE large WITH (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1,
    autovacuum_vacuum_threshold = 1, autovacuum_enabled = false) AS SELECT generate_series(1, 200000) AS a`;
    await sql`DELETE FROM large WHERE a % 2 = 0`;
    await sql`ALTER TABLE large SET (autovacuum_enabled = true)`;
    await eventually(async () =>
      expect(await admin`SELECT FROM pg_stat_progress_vacuum WHERE relid = 'large'::regclass`).toHaveLength(1),
    );
    const told: string[] = [];
    await applyMissing(sql, [file(1, "ALTER TABLE large ADD COLUMN b int")], { tell: (line) => void told.push(line) });
    expect(told).toEqual([]);
  },
);

test("an application's account of its migrations beside ours is left alone, where we may not read it either", async () => {
  await admin`CREATE SCHEMA drizzle`;
  await admin`GRANT USAGE, CREATE ON SCHEMA drizzle TO plain, application`;
  await application`CREATE TABLE drizzle.__drizzle_migrations (id serial, hash text NOT NULL, created_at bigint)`;
  await applyMissing(sql, [file(1, "CREATE TABLE one (a int)")]);
  await applyMissing(sql, [file(1), file(2, "CREATE TABLE two (a int)")]);
  expect(await applied()).toEqual(["1", "2"]);
});

test("an upgrade needs no right to make a schema any more", async () => {
  await applyMissing(sql, [file(1, "CREATE TABLE one (a int)")]);
  const [own] = await admin<{ name: string }[]>`SELECT current_database() AS name`;
  await admin.unsafe(`REVOKE CREATE ON DATABASE ${own?.name} FROM plain`);
  await applyMissing(sql, [file(1), file(2, "CREATE TABLE two (a int)")]);
  expect(await applied()).toEqual(["1", "2"]);
});

test("a role that may not use PL/pgSQL migrates", async () => {
  await admin`REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC`;
  await applyMissing(sql, [file(1, "CREATE TABLE one (a int)")]);
  expect(await applied()).toEqual(["1"]);
});
