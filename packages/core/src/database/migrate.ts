import { fileURLToPath } from "node:url";
import { executeIn } from "./caller-transaction.ts";
import postgres from "./driver.ts";
import { loadMigrator } from "./drizzle.ts";
import { requirePostgresOn } from "./server/version.ts";

// At the root of the repository, or what the build copied into the package.
const folder = import.meta.url.endsWith(".ts") ? "../../../../drizzle" : "../drizzle";
export const migrationsFolder = fileURLToPath(new URL(folder, import.meta.url));
// "AtlasQ" in ASCII: any fixed number that other programs in the same database are unlikely to pick.
const migrationLock = 0x41746c617351;

type Migration = { sql: readonly string[]; hash: string; folderMillis: number };

/**
 * Bring a database to the newest schema. Safe to run from several processes at once: they take turns, and those with
 * nothing to do return at once. Throws `SettingError` when the server is too old, before anything is changed.
 *
 * @example
 * await migrateDatabase("postgres://localhost/atlasqueue");
 */
export async function migrateDatabase(url: string): Promise<void> {
  // Two connections, as the lock lives in a separate transaction: a pooler may not keep a session's locks.
  const sql = postgres(url, { max: 2, onnotice: () => {}, fetch_types: false, connect_timeout: 10 });
  try {
    await requirePostgresOn(executeIn(sql));
    await sql.begin(async (lock) => {
      await lock`SELECT pg_advisory_xact_lock(${migrationLock})`;
      await applyMissing(sql, loadMigrator().readMigrationFiles({ migrationsFolder }));
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/**
 * Keeps drizzle's own account of what was applied, but each file has a transaction of its own, where drizzle's has one for
 * all: it would hold each table it has changed until the last one is, and the version that runs meanwhile takes them in
 * another order. What goes wrong stops there, and the next try goes on.
 */
export async function applyMissing(sql: postgres.Sql, migrations: readonly Migration[]): Promise<void> {
  await sql`CREATE SCHEMA IF NOT EXISTS drizzle`;
  await sql`CREATE TABLE IF NOT EXISTS drizzle.__drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint)`;
  const [row] = await sql<{ last: number | null }[]>`
    SELECT max(created_at)::float8 AS last FROM drizzle.__drizzle_migrations`;
  for (const { sql: statements, hash, folderMillis } of migrations) {
    if (folderMillis <= (row?.last ?? 0)) continue;
    await sql.begin(async (one) => {
      for (const statement of statements) await one.unsafe(statement);
      await one`INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES (${hash}, ${folderMillis})`;
    });
  }
}
