import { createDatabase, postgresUrl, tcpProxy } from "@atlasqueue/testing";
import { expect, onTestFinished, test } from "vitest";
import { connectDatabase } from "../connect.ts";
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

test("a server that says it is too old is refused, and not migrated", async () => {
  const created = await createDatabase(postgresUrl());
  const proxy = await tcpProxy(created.url);
  const direct = connectDatabase({ url: created.url, connectionsMax: 1, timeoutMs: 10_000 });
  const database = connectDatabase({ url: proxy.url, connectionsMax: 1, timeoutMs: 10_000 });
  onTestFinished(async () => {
    await Promise.all([database.close(), direct.close()]);
    await proxy.close();
    await created.drop();
  });
  await requirePostgres(database);
  const [row] = await direct.sql<{ number: string }[]>`SELECT current_setting('server_version_num') AS number`;
  // As long as the real one, as the answer's length comes before it.
  proxy.alterAnswers((text) => text.replaceAll(row?.number ?? "", "150004"));
  await expect(requirePostgres(database)).rejects.toThrow(sentence("15.4"));
  await expect(migrateDatabase(proxy.url)).rejects.toThrow(sentence("15.4"));
  expect(await direct.sql`SELECT FROM pg_namespace WHERE nspname = 'drizzle'`).toHaveLength(0);
});
