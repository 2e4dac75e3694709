import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SettingError } from "../../settings/setting-error.ts";
import { textArray } from "../literals.ts";
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
const select = "SELECT hash, created_at::text AS at FROM atlasqueue.migrations ORDER BY created_at";

/** What has to be made before the first migration is written down; nothing later. */
export async function missingJournal(execute: Execute, { name }: SchemaName): Promise<readonly string[]> {
  const found = await namesIn(execute, name, []);
  if (found.some(({ of }) => of === "journal")) return [];
  // With IF NOT EXISTS it takes the right to make one where there is one too.
  return found.some(({ of }) => of === "schema") ? [makeTable] : [`CREATE SCHEMA "${name}"`, makeTable];
}

export type Applied = { hash: string; made_at: number };

/**
 * The migrations that were applied, oldest first; `shipped` are those that this program has. Throws `SettingError` when
 * the schema has tables of ours that we did not make.
 *
 * @example
 * const last = (await appliedMigrations(execute, shipped, schemaNamed())).at(-1)?.made_at ?? 0;
 */
export async function appliedMigrations(
  execute: Execute,
  shipped: readonly Migration[],
  { name }: SchemaName,
): Promise<Applied[]> {
  const made = shipped.flatMap(({ sql }) => sql).map((text) => /CREATE TABLE "atlasqueue"\."(\w+)"/.exec(text)?.[1]);
  const found = await namesIn(execute, name, made);
  if (found.some(({ of }) => of === "journal")) {
    const rows = await execute<{ hash: string; at: string }>({ text: select, params: [] });
    if (rows[0] && rows[0].hash !== shipped[0]?.hash) throw new SettingError(ofDevelopment);
    return rows.map(({ hash, at }) => ({ hash, made_at: Number(at) }));
  }
  if (found.some(({ of }) => of === "development")) throw new SettingError(ofDevelopment);
  const foreign = found.find(({ of }) => of === "table");
  if (foreign)
    throw new SettingError(
      `The schema ${name} has a table ${foreign.relname} that AtlasQueue did not make. Name another one in DATABASE_SCHEMA.`,
    );
  return [];
}

const ofDevelopment = "This database was made by a development version before 0.1.0. Make a new one.";

/** Without parameters: the server would wait for them without counting as idle. */
export const noteApplied = ({ hash, folderMillis }: Migration) =>
  `INSERT INTO atlasqueue.migrations (hash, created_at) VALUES ('${hash}', ${folderMillis})`;

/**
 * Not with `to_regclass`: a server process that has found no such schema repeats that until the next transaction, and
 * the turn may have come in the middle of this one.
 */
function namesIn(execute: Execute, schema: string, tables: readonly (string | undefined)[]) {
  type Found = { of: "schema" | "journal" | "development" | "table"; relname: string };
  return execute<Found>({ text: names, params: [schema, textArray(tables)] });
}

const names = `
  SELECT 'schema' AS of, '' AS relname FROM pg_namespace WHERE nspname = $1
  UNION ALL
  SELECT CASE WHEN nspname <> $1 THEN 'development'
              WHEN relname = 'migrations' AND EXISTS (
                SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'hash') THEN 'journal'
              ELSE 'table' END, relname
  FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid
  WHERE nspname = $1 AND relname = ANY($2::text[] || 'migrations'::text)
     OR nspname = 'drizzle' AND relname = 'atlasqueue_migrations'`;
