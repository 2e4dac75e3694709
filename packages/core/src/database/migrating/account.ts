import { numberArray } from "../literals.ts";
import type { Execute } from "../statement.ts";

/**
 * Which migrations were applied. Not in drizzle's own table: that is an application's in the same database that uses
 * drizzle too, and whoever finds the other's there takes its own older ones for applied.
 */
const own = "atlasqueue_migrations";
/** Where versions before the first release wrote it, as the last one of each is told by when it was made. */
const drizzles = "__drizzle_migrations";

export const makeAccount = [
  // With IF NOT EXISTS it takes the right to make one where there is one too.
  `DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'drizzle') THEN CREATE SCHEMA drizzle; END IF;
  END $$`,
  `CREATE TABLE IF NOT EXISTS drizzle.${own} (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint NOT NULL)`,
];

/**
 * When those that were applied were made, in order; `shipped` are those that this program has.
 *
 * @example
 * const last = (await appliedMigrations(execute, shipped)).at(-1) ?? 0;
 */
export async function appliedMigrations(execute: Execute, shipped: readonly number[]): Promise<number[]> {
  const tables = await tablesOf(execute);
  const rows = tables.has(own)
    ? await execute<{ at: number }>({ text: `${select(own)} ORDER BY created_at`, params: [] })
    : tables.has(drizzles)
      ? await execute<{ at: number }>({ text: ofShipped, params: [numberArray(shipped)] })
      : [];
  return rows.map(({ at }) => at);
}

export async function hasAccount(execute: Execute): Promise<boolean> {
  return (await tablesOf(execute)).has(own);
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
  const rows = await execute<{ name: string }>({ text: tables, params: [] });
  return new Set(rows.map(({ name }) => name));
}

// One of drizzle's that we may not read is an application's: whoever migrated before wrote ours.
const tables = `
  SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = 'drizzle' AND (relname = '${own}' OR relname = '${drizzles}' AND has_schema_privilege(pg_namespace.oid, 'USAGE')
                                                    AND has_table_privilege(pg_class.oid, 'SELECT'))`;
const select = (table: string) => `SELECT created_at::float8 AS at FROM drizzle.${table}`;
const ofShipped = `${select(drizzles)} WHERE created_at = ANY($1::bigint[]) ORDER BY created_at`;
const adopt = `
  INSERT INTO drizzle.${own} (hash, created_at)
  SELECT hash, created_at FROM drizzle.${drizzles}
  WHERE created_at = ANY($1::bigint[]) AND NOT EXISTS (SELECT FROM drizzle.${own}) ORDER BY id`;
const note = `INSERT INTO drizzle.${own} (hash, created_at) VALUES ($1, $2::float8::bigint)`;
