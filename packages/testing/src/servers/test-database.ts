import { connectDatabase, migrateDatabase, type Database } from "@atlasqueue/core";
import { inject } from "vitest";
import "./provided.ts";
import { addJobChecks } from "./add-job-checks.ts";
import { createDatabase, type CreatedDatabase } from "./create-database.ts";
import { postgresUrl } from "./shared-servers.ts";

export type TestDatabase = CreatedDatabase & {
  /** Connected, with a deadline that even a busy machine does not reach. */
  database: Database;
  /** Closes the connection, then removes the database. */
  drop(): Promise<void>;
};

/**
 * A separate migrated database for a test file, on the run's shared server: a copy of one made once for the run.
 *
 * @example
 * const { database, url, drop } = await testDatabase();
 * afterAll(drop);
 */
export async function testDatabase(): Promise<TestDatabase> {
  const created = await createDatabase(postgresUrl(), inject("migratedTemplate"));
  const database = connectDatabase({ url: created.url, connectionsMax: 10, timeoutMs: 15_000 });
  return {
    ...created,
    database,
    async drop() {
      await database.close();
      await created.drop();
    },
  };
}

/** The database that `testDatabase` copies. */
export async function createMigratedTemplate(adminUrl: string): Promise<string> {
  const { url, name } = await createDatabase(adminUrl);
  await migrateDatabase(url);
  const { sql, close } = connectDatabase({ url, connectionsMax: 1, timeoutMs: 15_000 });
  await addJobChecks(sql);
  await close();
  return name;
}
