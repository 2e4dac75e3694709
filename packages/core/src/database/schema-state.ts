import { SettingError } from "../settings/setting-error.ts";
import type { Database } from "./connect.ts";
import { readJournal, shippedMigrations } from "./migrating/journal.ts";
import { requireRights } from "./server/rights.ts";
import { executeOn } from "./statement.ts";

/** How the database's schema stands to the one that this program was made with, in numbers of migrations. */
export type SchemaState = {
  kind: "current" | "behind" | "ahead" | "missing";
  applied: number;
  shipped: number;
  /** The newest applied migration that this program knows by name, if it knows one. */
  at: string | undefined;
  /** The newest one that this program needs. */
  needs: string;
};

const insufficient_privilege = "42501";

/**
 * Compare the migrations that were applied with those that are shipped. Throws `SettingError` when the schema has
 * tables of ours that AtlasQueue did not make.
 *
 * @example
 * if ((await schemaState(database)).kind === "behind") await migrateDatabase(url);
 */
export async function schemaState(database: Database): Promise<SchemaState> {
  const shipped = shippedMigrations();
  const newest = shipped.at(-1);
  const numbers = { shipped: shipped.length, needs: newest?.tag ?? "" };
  const { applied } = await readJournal(executeOn(database), shipped, database.schema);
  const last = applied.at(-1)?.made_at ?? 0;
  const wanted = newest?.folderMillis ?? 0;
  const kind = applied.length === 0 ? "missing" : last < wanted ? "behind" : last > wanted ? "ahead" : "current";
  return {
    kind,
    applied: applied.length,
    at: shipped.find(({ hash }) => hash === applied.at(-1)?.hash)?.tag,
    ...numbers,
  };
}

/**
 * For a program's start, where a person reads what is wrong: throws `SettingError` when migrations that it needs are
 * not applied, or the role lacks a right on our tables. A schema that is newer is fine, as migrations only add. So is one that we may not look at; where the
 * tables themselves are missing, the first statement says so.
 *
 * @example
 * await requireSchema(database);
 */
export async function requireSchema(database: Database): Promise<void> {
  const state = await schemaState(database).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== insufficient_privilege) throw error;
    return undefined;
  });
  if (state?.kind !== "behind") return requireRights(database);
  const { at, needs } = state;
  throw new SettingError(
    `the schema ${database.schema.name} in DATABASE_URL is at migration ${at}, this version needs ${needs}: run \`atlasqueue migrate\` first`,
  );
}
