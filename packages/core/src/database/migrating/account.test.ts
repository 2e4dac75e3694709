import { createDatabase, postgresUrl } from "@atlasqueue/testing";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { connectDatabase } from "../connect.ts";
import postgres from "../driver.ts";
import { migrateDatabase } from "../migrate.ts";
import { schemaState } from "../schema-state.ts";
import { applyMissing } from "./apply-missing.ts";

let url: string;
let sql: postgres.Sql;
beforeEach(async () => {
  const created = await createDatabase(postgresUrl());
  url = created.url;
  sql = postgres(url, { max: 2, onnotice: () => {} });
  return async () => {
    await sql.end();
    await created.drop();
  };
});

/** What drizzle's own migrator writes down: when each file was made. */
async function drizzleApplied(...made_at: number[]): Promise<void> {
  await sql.unsafe(`
    CREATE SCHEMA IF NOT EXISTS drizzle;
    CREATE TABLE IF NOT EXISTS drizzle.__drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint)`);
  for (const at of made_at)
    await sql`INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES (${`of ${at}`}, ${at})`;
}
const hashes = async (table: string) =>
  (await sql.unsafe<{ hash: string }[]>(`SELECT hash FROM drizzle.${table} ORDER BY id`)).map(({ hash }) => hash);
const stateOf = async () => {
  const database = connectDatabase({ url, connectionsMax: 1, timeoutMs: 10_000 });
  onTestFinished(() => database.close());
  return schemaState(database);
};

test("an application's drizzle in the same database: neither takes the other's newer files for its own", async () => {
  const later = Date.now() + 1_000_000_000;
  await drizzleApplied(later);
  expect(await stateOf()).toMatchObject({ kind: "missing", applied: 0 });
  await migrateDatabase(url);
  expect(await sql`SELECT FROM jobs`).toEqual([]);
  expect(await stateOf()).toMatchObject({ kind: "current" });
  expect(await hashes("__drizzle_migrations")).toEqual([`of ${later}`]);
});

const files = [1, 2, 3].map((at) => ({ sql: [`CREATE TABLE file_${at} (a int)`], hash: `of ${at}`, folderMillis: at }));

test("what a version before the first release wrote down is taken over, and an application's files are not", async () => {
  await drizzleApplied(1, 99, 2);
  await applyMissing(sql, files);
  expect(await hashes("atlasqueue_migrations")).toEqual(["of 1", "of 2", "of 3"]);
  expect(await sql`SELECT relname FROM pg_class WHERE relname LIKE 'file%'`).toEqual([{ relname: "file_3" }]);
  await drizzleApplied(4);
  await applyMissing(sql, files);
  expect(await hashes("atlasqueue_migrations")).toEqual(["of 1", "of 2", "of 3"]);
});

test("a database that such a version brought to the newest schema is left as it is", async () => {
  await migrateDatabase(url);
  const { applied } = await stateOf();
  await sql`ALTER TABLE drizzle.atlasqueue_migrations RENAME TO __drizzle_migrations`;
  await migrateDatabase(url);
  expect(await stateOf()).toMatchObject({ kind: "current", applied });
});
