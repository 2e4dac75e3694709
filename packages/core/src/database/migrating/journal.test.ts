import { createDatabase, postgresUrl } from "@atlasqueue/testing";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { connectDatabase } from "../connect.ts";
import postgres from "../driver.ts";
import { migrateDatabase } from "../migrate.ts";
import { requireSchema, schemaState } from "../schema-state.ts";

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

const open = () => {
  const database = connectDatabase({ url, connectionsMax: 1, timeoutMs: 10_000 });
  onTestFinished(() => database.close());
  return database;
};

test("an application's drizzle in the same database: neither takes the other's newer files for its own", async () => {
  const later = Date.now() + 1_000_000_000;
  await sql.unsafe(`
    CREATE SCHEMA drizzle;
    CREATE TABLE drizzle.__drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint);
    INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES ('theirs', ${later})`);
  expect(await schemaState(open())).toMatchObject({ kind: "missing", applied: 0 });
  await migrateDatabase(url);
  expect(await schemaState(open())).toMatchObject({ kind: "current", applied: 1 });
  expect(await sql`SELECT hash FROM drizzle.__drizzle_migrations`).toEqual([{ hash: "theirs" }]);
});

test.each([
  ["with many migrations", "('of 0000', 1), ('of 0001', 2)"],
  ["with another text of the first one", "('of 0000', 1795675557307)"],
])("a database of a development version, %s, is refused in one line", async (_, rows) => {
  await migrateDatabase(url);
  await sql.unsafe(`
    TRUNCATE drizzle.atlasqueue_migrations;
    INSERT INTO drizzle.atlasqueue_migrations (hash, created_at) VALUES ${rows}`);
  const line = "This database was made by a development version before 0.1.0. Make a new one.";
  await expect(migrateDatabase(url)).rejects.toThrow(line);
  await expect(schemaState(open())).rejects.toThrow(line);
  await expect(requireSchema(open())).rejects.toThrow(line);
});
