import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SettingError } from "../../program/settings.ts";
import type { Execute } from "../statement.ts";

/** A file of `drizzle/`: when it was made, which is their order, the digest of its text, and its statements. */
export type Migration = { sql: readonly string[]; hash: string; folderMillis: number };

// At the root of the repository, or what the build copied into the package.
export const migrationsFolder = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../../../drizzle" : "../drizzle", import.meta.url),
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

/** Our own and not drizzle's, which an application in the same database may use. */
const table = "drizzle.atlasqueue_migrations";
const makeSchema = "CREATE SCHEMA drizzle";
const makeTable = `CREATE TABLE IF NOT EXISTS ${table} (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint NOT NULL)`;

/** What has to be made before the first migration is written down; nothing later. */
export async function missingJournal(execute: Execute): Promise<readonly string[]> {
  const found = await namesIn(execute);
  if (found.includes("atlasqueue_migrations")) return [];
  // With IF NOT EXISTS it takes the right to make one where there is one too.
  return found.includes("") ? [makeTable] : [makeSchema, makeTable];
}

export const isOfJournal = (statement: string) => statement === makeSchema || statement === makeTable;

export type Applied = { hash: string; made_at: number };

/**
 * The migrations that were applied, oldest first; `shipped` are those that this program has. Throws `SettingError` when
 * the first one is not ours.
 *
 * @example
 * const last = (await appliedMigrations(execute, shipped)).at(-1)?.made_at ?? 0;
 */
export async function appliedMigrations(execute: Execute, shipped: readonly Migration[]): Promise<Applied[]> {
  if (!(await namesIn(execute)).includes("atlasqueue_migrations")) return [];
  const rows = await execute<{ hash: string; at: string }>({ text: select, params: [] });
  if (rows[0] && rows[0].hash !== shipped[0]?.hash)
    throw new SettingError("This database was made by a development version before 0.1.0. Make a new one.");
  return rows.map(({ hash, at }) => ({ hash, made_at: Number(at) }));
}

export async function noteApplied(execute: Execute, { hash, folderMillis }: Migration) {
  await execute({ text: note, params: [hash, folderMillis] });
}

/**
 * The table's name if it is there, "" if only its schema is. Not with `to_regclass`: a server process that has found no such schema
 * repeats that until the next transaction, and the turn may have come in the middle of this one.
 */
async function namesIn(execute: Execute): Promise<string[]> {
  const rows = await execute<{ name: string }>({ text: names, params: [] });
  return rows.map(({ name }) => name);
}

const names = `
  SELECT coalesce(relname, '') AS name FROM pg_namespace
  LEFT JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = 'atlasqueue_migrations'
  WHERE nspname = 'drizzle'`;
const select = `SELECT hash, created_at::text AS at FROM ${table} ORDER BY created_at`;
const note = `INSERT INTO ${table} (hash, created_at) VALUES ($1, $2::float8::bigint)`;
