import type postgres from "../src/database/driver.ts";

/** A file of migrations, as it was read; they are applied in the order of their numbers. */
export const file = (folderMillis: number, ...sql: string[]) => ({ sql, hash: String(folderMillis), folderMillis });

export const appliedIn = async (sql: postgres.Sql) =>
  (await sql`SELECT hash FROM atlasqueue.migrations ORDER BY created_at`).map(({ hash }) => hash as string);
