import { defaultSchema } from "./schema/name.ts";
import { createRequire } from "node:module";
import type * as Orm from "drizzle-orm";
import type * as PgCore from "drizzle-orm/pg-core";
import type * as PgProxy from "drizzle-orm/pg-proxy";

/**
 * drizzle, loaded as CommonJS. As ES modules it took 0.8 s of CPU at the start of every process, most of our start:
 * for each import between a package's ES modules Node reads the package's manifest again, and drizzle's is 180 kB.
 * The one place that loads it, so that nothing loads it the slow way; types are imported from drizzle itself.
 */
const load = createRequire(import.meta.url);

export const { and, desc, DrizzleQueryError, eq, getTableColumns, getTableName, is, isNull, sql, Table } = load(
  "drizzle-orm",
) as typeof Orm;

export const {
  bigint,
  bigserial,
  boolean,
  check,
  doublePrecision,
  foreignKey,
  index,
  integer,
  jsonb,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
} = load("drizzle-orm/pg-core") as typeof PgCore;
const { customType, pgSchema, timestamp } = load("drizzle-orm/pg-core") as typeof PgCore;

/** For queries that somebody else sends. */
export const { drizzle: queryBuilder } = load("drizzle-orm/pg-proxy") as typeof PgProxy;

/** Another schema's name is filled in as a statement is sent: see `schemaNamed`. */
export const atlasqueue = pgSchema(defaultSchema);

/** Column types that drizzle lacks. */
export const time = () => timestamp({ withTimezone: true, precision: 6 });
export const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });

/** The driver reads JSON; drizzle's own type would read a JSON string once more. */
export const json = <T>() => customType<{ data: T }>({ dataType: () => "json" })();
