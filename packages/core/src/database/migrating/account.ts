import { SettingError } from "../../program/settings.ts";
import { numberArray } from "../literals.ts";
import type { Execute } from "../statement.ts";

/**
 * Which migrations were applied. Not in drizzle's own table: that is an application's in the same database that uses
 * drizzle too, and whoever finds the other's there takes its own older ones for applied.
 */
const own = "atlasqueue_migrations";
/** Where versions before the first release wrote it, as the last one of each is told by when it was made. */
const drizzles = "__drizzle_migrations";

const makeSchema = "CREATE SCHEMA drizzle";
const makeTable = `CREATE TABLE IF NOT EXISTS drizzle.${own} (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint NOT NULL)`;

/** What has to be made before the first migration is written down; nothing later. */
export async function missingAccount(execute: Execute): Promise<readonly string[]> {
  if ((await tablesOf(execute)).has(own)) return [];
  // With IF NOT EXISTS it takes the right to make one where there is one too.
  const schemas = await execute({ text: "SELECT FROM pg_namespace WHERE nspname = 'drizzle'", params: [] });
  return schemas.length > 0 ? [makeTable] : [makeSchema, makeTable];
}

export const isOfAccount = (statement: string) => statement === makeSchema || statement === makeTable;

/**
 * When those that were applied were made, in order; `shipped` are those that this program has. Throws `SettingError` where
 * an earlier version wrote that down as a role whose tables we may not read.
 *
 * @example
 * const last = (await appliedMigrations(execute, shipped)).at(-1) ?? 0;
 */
export async function appliedMigrations(execute: Execute, shipped: readonly number[]): Promise<number[]> {
  const tables = await tablesOf(execute);
  const rows = tables.has(own)
    ? await execute<{ at: string }>({ text: `${select(own)} ORDER BY created_at`, params: [] })
    : tables.has(drizzles)
      ? await execute<{ at: string }>({ text: ofShipped, params: [numberArray(shipped)] })
      : [];
  return rows.map(({ at }) => Number(at));
}

/** Take over what an earlier version wrote down, once. */
export async function adoptAccount(execute: Execute, shipped: readonly number[]): Promise<void> {
  if ((await tablesOf(execute)).has(drizzles)) await execute({ text: adopt, params: [numberArray(shipped)] });
}

export async function noteApplied(execute: Execute, { hash, made_at }: { hash: string; made_at: number }) {
  await execute({ text: note, params: [hash, made_at] });
}

/**
 * Not with `to_regclass`: where the server process has found no such schema before, that says so again until the next
 * transaction, and the turn may have come in the middle of this one.
 */
async function tablesOf(execute: Execute): Promise<ReadonlySet<string>> {
  const rows = await execute<{ name: string; shown: boolean; begun: boolean }>({ text: tables, params: [] });
  const found = new Set(rows.filter(({ name, shown }) => shown || name === own).map(({ name }) => name));
  if (found.size === 0 && rows.some(({ begun }) => begun)) throw Object.assign(new SettingError(hidden), refused);
  return found;
}

// One of drizzle's that we may not read is an application's, unless there are tables of ours: whoever made them wrote it.
const tables = `
  SELECT relname AS name,
    has_schema_privilege(pg_namespace.oid, 'USAGE') AND has_table_privilege(pg_class.oid, 'SELECT') AS shown,
    EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public' AND tablename = 'lease_batches') AS begun
  FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = 'drizzle' AND relname IN ('${own}', '${drizzles}')`;
const hidden =
  `the role in DATABASE_URL has not made the tables of AtlasQueue that are in this database, and drizzle.${drizzles}, where ` +
  "it is written down how far they are, may not be read: migrate as the role that migrated before";
/** As PostgreSQL says it of what may not be read: a program that does not migrate may start. */
const refused = { code: "42501" };
const select = (table: string) => `SELECT created_at::text AS at FROM drizzle.${table}`;
const ofShipped = `${select(drizzles)} WHERE created_at = ANY($1::bigint[]) ORDER BY created_at`;
const adopt = `
  INSERT INTO drizzle.${own} (hash, created_at)
  SELECT hash, created_at FROM drizzle.${drizzles}
  WHERE created_at = ANY($1::bigint[]) AND NOT EXISTS (SELECT FROM drizzle.${own}) ORDER BY id`;
const note = `INSERT INTO drizzle.${own} (hash, created_at) VALUES ($1, $2::float8::bigint)`;
