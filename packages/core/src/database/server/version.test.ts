import { createDatabase, eventually, postgresUrl, testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase, openProxy } from "../../../test/opened.ts";
import { createQueue } from "../../queue.ts";
import { outcomeUnknown } from "../errors.ts";
import { migrateDatabase } from "../migrate.ts";
import { requirePostgres } from "./require-postgres.ts";
import { troubleOfVersion } from "./version.ts";

const sentence = (version: string) => `DATABASE_URL: AtlasQueue needs PostgreSQL 16 or newer; the server is ${version}`;

test.each([
  [90624, "9.6.24"],
  [150004, "15.4"],
  [159999, "15.9999"],
])("the version %i is too old, and written the way people write it", (number, version) => {
  expect(troubleOfVersion(number)).toBe(sentence(version));
});

test.each([160000, 160010, 180001, 200000])("the version %i is new enough", (number) => {
  expect(troubleOfVersion(number)).toBeUndefined();
});

test("a database that is not UTF8 is refused, and not migrated, and the library refuses it at the first use", async () => {
  const admin = openDatabase({ url: postgresUrl(), connectionsMax: 1, timeoutMs: 10_000 });
  const name = `latin_${process.pid}`;
  await admin.sql.unsafe(
    `CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C'`,
  );
  onTestFinished(async () => void (await admin.sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)));
  const url = new URL(postgresUrl());
  url.pathname = `/${name}`;
  const database = openDatabase({ url: url.href, connectionsMax: 1, timeoutMs: 10_000 });
  const refusal = "needs a database with the encoding UTF8; this database has LATIN1.";
  await expect(requirePostgres(database)).rejects.toThrow(refusal);
  await expect(migrateDatabase(url.href)).rejects.toThrow(refusal);
  expect(await database.sql`SELECT FROM pg_namespace WHERE nspname = 'drizzle'`).toHaveLength(0);
  const queue = createQueue({ databaseUrl: url.href });
  onTestFinished(() => queue.close());
  for (const use of [queue.submit({ type: "a" }), queue.schedules.list(), queue.submitMany([{ type: "a" }])])
    await expect(use).rejects.toThrow(`databaseUrl: AtlasQueue ${refusal}`);
});

test("the library checks again if the database was down at the first use", async () => {
  const own = await testDatabase();
  onTestFinished(() => own.drop());
  const proxy = await openProxy(own.url);
  const queue = createQueue({ databaseUrl: proxy.url, timeoutMs: 300 });
  onTestFinished(() => queue.close());
  proxy.refuse();
  await expect(queue.submit({ type: "a" })).rejects.toSatisfy((error) => !outcomeUnknown(error));
  proxy.heal();
  await eventually(async () => expect(await queue.submit({ type: "a" })).toMatchObject({ created: true }));
});

test("a server that says it is too old is refused, and not migrated", async () => {
  const created = await createDatabase(postgresUrl());
  onTestFinished(() => created.drop());
  const proxy = await openProxy(created.url);
  const direct = openDatabase({ url: created.url, connectionsMax: 1, timeoutMs: 10_000 });
  const database = openDatabase({ url: proxy.url, connectionsMax: 1, timeoutMs: 10_000 });
  await requirePostgres(database);
  const [row] = await direct.sql<{ number: string }[]>`SELECT current_setting('server_version_num') AS number`;
  // As long as the real one, as the answer's length comes before it.
  proxy.alterAnswers((text) => text.replaceAll(row?.number ?? "", "150004"));
  await expect(requirePostgres(database)).rejects.toThrow(sentence("15.4"));
  await expect(migrateDatabase(proxy.url)).rejects.toThrow(sentence("15.4"));
  expect(await direct.sql`SELECT FROM pg_namespace WHERE nspname = 'drizzle'`).toHaveLength(0);
});
