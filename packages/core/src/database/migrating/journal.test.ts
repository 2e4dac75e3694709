import { createDatabase, postgresUrl } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { openDatabase } from "../../../test/opened.ts";
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

const open = (schema?: string) => openDatabase({ url, schema, connectionsMax: 1, timeoutMs: 10_000 });

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
    TRUNCATE atlasqueue.migrations;
    INSERT INTO atlasqueue.migrations (hash, created_at) VALUES ${rows}`);
  const line = "This database was made by a development version before 0.1.0. Make a new one.";
  await expect(migrateDatabase(url)).rejects.toThrow(line);
  await expect(schemaState(open())).rejects.toThrow(line);
  await expect(requireSchema(open())).rejects.toThrow(line);
});

test.each(["jobs", "migrations"])(
  "a schema with another application's table %s is refused and not changed",
  async (table) => {
    await sql.unsafe(`CREATE SCHEMA "Odd-1"; CREATE TABLE "Odd-1".${table} (theirs int)`);
    const line = `The schema Odd-1 has a table ${table} that AtlasQueue did not make. Name another one in DATABASE_SCHEMA.`;
    await expect(migrateDatabase(url, { schema: "Odd-1" })).rejects.toThrow(line);
    await expect(schemaState(open("Odd-1"))).rejects.toThrow(line);
    expect(await sql`SELECT tablename FROM pg_tables WHERE schemaname = 'Odd-1'`).toEqual([{ tablename: table }]);
  },
);

test("a schema is named by letters, digits, _ and -, and not as PostgreSQL names its own", async () => {
  const line = "schema must be a name of letters, digits, _ and -";
  for (const schema of ["pg_mine", "1st", "a.b", 'a"b', "", "a".repeat(49)]) {
    await expect(migrateDatabase(url, { schema })).rejects.toThrow(line);
    expect(() => open(schema)).toThrow(line);
  }
});
