import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SettingError } from "../../settings/setting-error.ts";
import type { SchemaName } from "../schema/name.ts";
import type { Execute } from "../statement.ts";

/** A file of `drizzle/`: when it was made, which is their order, the digest of its text, and its statements. */
export type Migration = { sql: readonly string[]; hash: string; folderMillis: number };

// At the root of the repository, or what the build copied into the package.
export const migrationsFolder = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../../../drizzle" : "../../drizzle", import.meta.url),
);

type DrizzleJournal = { entries: { when: number; tag: string }[] };

/** The migrations that this program was made with, oldest first. */
export function shippedMigrations(): (Migration & { tag: string })[] {
  const journal = JSON.parse(readFileSync(join(migrationsFolder, "meta", "_journal.json"), "utf8")) as DrizzleJournal;
  return journal.entries.map(({ when, tag }) => {
    const text = readFileSync(join(migrationsFolder, `${tag}.sql`), "utf8");
    const hash = createHash("sha256").update(text).digest("hex");
    return { tag, folderMillis: when, hash, sql: text.split("--> statement-breakpoint") };
  });
}

export const makeTable =
  "CREATE TABLE IF NOT EXISTS atlasqueue.migrations (created_at bigint PRIMARY KEY, hash text NOT NULL)";

export type Journal = {
  /** The migrations that were applied, oldest first. */
  applied: { hash: string; made_at: number }[];
  missing: Migration[];
  /** Statements that must come before the first one is written down. */
  toMake: string[];
};

/**
 * Which of the `shipped` migrations were applied. Throws `SettingError` when the schema has tables of ours that AtlasQueue
 * did not make, or a development version made them. Its statements have no parameters: between two parts of one, the
 * server would not count as idle.
 *
 * @example
 * const { missing } = await readJournal(execute, shippedMigrations(), schemaNamed());
 */
export async function readJournal(
  execute: Execute,
  shipped: readonly Migration[],
  { name }: SchemaName,
): Promise<Journal> {
  const made = shipped.flatMap(({ sql }) =>
    sql.flatMap((text) => /CREATE TABLE "atlasqueue"\."(\w+)"/.exec(text)?.[1] ?? []),
  );
  const found = await execute<Found>({ text: namesIn(name, [...made, "migrations"]), params: [] });
  const has = (kind: Found["of"]) => found.find(({ of }) => of === kind);
  const rows = has("journal") ? await execute<{ hash: string; at: string }>({ text: select, params: [] }) : [];
  if (rows[0] && rows[0].hash !== shipped[0]?.hash)
    throw new SettingError("This database was made by a development version before 0.1.0. Make a new one.");
  const foreign = has("journal") ? undefined : has("table");
  if (foreign)
    throw new SettingError(
      `The schema ${name} has a table ${foreign.relname} that AtlasQueue did not make. Name another one in DATABASE_SCHEMA.`,
    );
  const applied = rows.map(({ hash, at }) => ({ hash, made_at: Number(at) }));
  const last = applied.at(-1)?.made_at ?? 0;
  return {
    applied,
    missing: shipped.filter(({ folderMillis }) => folderMillis > last),
    // With IF NOT EXISTS it takes the right to make a schema where there is one too.
    toMake: has("journal") ? [] : [...(has("schema") ? [] : [`CREATE SCHEMA "${name}"`]), makeTable],
  };
}

export const noteApplied = ({ hash, folderMillis }: Migration) =>
  `INSERT INTO atlasqueue.migrations (hash, created_at) VALUES ('${hash}', ${folderMillis})`;

type Found = { of: "schema" | "journal" | "table"; relname: string };

const select = "SELECT hash, created_at::text AS at FROM atlasqueue.migrations ORDER BY created_at";

/**
 * Not with `to_regclass`: a server process that has found no such schema repeats that until the next transaction, and
 * the turn may have come in the middle of this one.
 */
const namesIn = (schema: string, tables: readonly string[]) => `
  SELECT 'schema' AS of, '' AS relname FROM pg_namespace WHERE nspname = '${schema}'
  UNION ALL
  SELECT CASE WHEN relname = 'migrations' AND EXISTS (
                SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'hash') THEN 'journal'
              ELSE 'table' END, relname
  FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid
  WHERE nspname = '${schema}' AND relname = ANY('{${tables.join(",")}}')`;
