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

/**
 * Bring a database to the newest schema. Safe to run from several processes at once: they take turns, and those with
 * nothing to do return at once. Throws `SettingError` when the server is too old, before anything is changed.
 *
 * @example
 * await migrateDatabase("postgres://localhost/atlasqueue");
 */
export async function migrateDatabase(url: string): Promise<void> {
  const { drizzle, migrate } = loadMigrator();
  // Two connections, as the lock lives in a separate transaction: a pooler may not keep a session's locks.
  const sql = postgres(url, { max: 2, onnotice: () => {}, fetch_types: false, connect_timeout: 10 });
  try {
    await requirePostgresOn(executeIn(sql));
    await sql.begin(async (lock) => {
      await lock`SELECT pg_advisory_xact_lock(${migrationLock})`;
      await migrate(drizzle(sql), { migrationsFolder });
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}
