import { randomUUID } from "node:crypto";
import postgres, { type Sql } from "postgres";

export type CreatedDatabase = {
  readonly url: string;
  readonly name: string;
  /** Removes it, even if clients are still connected; may be called twice. */
  drop(): Promise<void>;
};

/**
 * A new database with a random name on the server behind `adminUrl`: empty, or a copy of the database `template`, which
 * must have no connections meanwhile. Throws PostgreSQL's error when it can't be created.
 *
 * @example
 * const { url, drop } = await createDatabase(postgresUrl());
 * afterAll(drop);
 */
export async function createDatabase(adminUrl: string, template = "template1"): Promise<CreatedDatabase> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await asAdmin(adminUrl, (sql) => sql`create database ${sql(name)} template ${sql(template)}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    name,
    drop: () => asAdmin(adminUrl, (sql) => sql`drop database if exists ${sql(name)} with (force)`),
  };
}

async function asAdmin(adminUrl: string, act: (sql: Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} });
  try {
    await act(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
