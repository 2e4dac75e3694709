import type { Database } from "./connect.ts";
import { loadMigrationFiles } from "./drizzle.ts";
import { migrationsFolder } from "./migrate.ts";
import { executeOn } from "./statement.ts";

/** How the database's schema stands to the one that this program was made with, in numbers of migrations. */
export type SchemaState = {
  kind: "current" | "behind" | "ahead" | "missing";
  applied: number;
  shipped: number;
};

/**
 * Compare the migrations that were applied with those that are shipped.
 *
 * @example
 * if ((await schemaState(database)).kind === "behind") await migrateDatabase(url);
 */
export async function schemaState(database: Database): Promise<SchemaState> {
  const { readMigrationFiles } = loadMigrationFiles();
  const shipped = readMigrationFiles({ migrationsFolder }).map(({ folderMillis }) => folderMillis);
  const newest = Math.max(...shipped);
  const execute = executeOn(database);
  const [there] = await execute<{ found: string | null }>({
    text: "SELECT to_regclass('drizzle.__drizzle_migrations')::text AS found",
    params: [],
  });
  if (!there?.found) return { kind: "missing", applied: 0, shipped: shipped.length };
  const rows = await execute<{ at: number }>({
    text: "SELECT created_at::float8 AS at FROM drizzle.__drizzle_migrations ORDER BY created_at",
    params: [],
  });
  const last = rows.at(-1)?.at ?? 0;
  const kind = rows.length === 0 ? "missing" : last < newest ? "behind" : last > newest ? "ahead" : "current";
  return { kind, applied: rows.length, shipped: shipped.length };
}
