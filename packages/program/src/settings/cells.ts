import {
  keysOf,
  parseDatabaseUrl,
  SettingError,
  type RedisTls,
  type SignalKeys,
} from "@atlasqueue/core/internal/program";
import { z } from "zod";
import { redisSettings, redisTls } from "./redis-settings.ts";
import { readCellsFile, type Env } from "./cells-file.ts";
import { databaseSettings, databaseUrl, parseSettings, setting } from "./settings.ts";

/** Where the jobs of some tenants are: a schema in PostgreSQL, and their wake-ups in Redis. */
export type Cell = {
  name: string;
  database: { url: string; schema: string };
  /** Without it there are no signals between processes, and workers find jobs by their sweep. */
  redis: { url: string; tls?: RedisTls; keys: SignalKeys } | undefined;
};

/** What a cell has of its own. In CELLS_FILE they are strings, as they are in the environment. */
const ownSettings = {
  ...databaseSettings,
  ...redisSettings,
  JOB_QUEUE_KEY: setting.text().optional(),
  DLQ_KEY: setting.text().optional(),
};
export const cellSettings = { ...ownSettings, CELLS_FILE: setting.text("the path of a JSON file").optional() };

type OwnValues = z.output<z.ZodObject<typeof ownSettings>>;

/**
 * The cells of CELLS_FILE, home first; without it, the one that DATABASE_URL and REDIS_URL name. Throws `SettingError` for
 * the first value that is wrong.
 *
 * @example
 * for (const { name, database } of readCells(process.env)) await migrateDatabase(database.url, { schema: database.schema });
 */
export function readCells(env: Env): [Cell, ...Cell[]] {
  return cellsOf(parseSettings(z.object(cellSettings), env));
}

/** The same from settings that are parsed already, in which the values of home stand for those of the environment. */
export function cellsOf(set: OwnValues & { CELLS_FILE?: string | undefined }): [Cell, ...Cell[]] {
  if (set.CELLS_FILE === undefined) return [cellOf("home", set)];
  const cells = readCellsFile(set.CELLS_FILE).map((own) => {
    const { name = "" } = own;
    try {
      return cellOf(name, parseSettings(z.object(ownSettings), own));
    } catch (error) {
      throw error instanceof SettingError ? new SettingError(`CELLS_FILE: cell ${name}: ${error.message}`) : error;
    }
  });
  requireApart(cells, "another name", ({ name }) => name);
  requireApart(cells, "a schema of its own", ({ database: { url, schema } }) => {
    const { host, port, database } = parseDatabaseUrl(url).driver;
    return JSON.stringify([host, port, database, schema]);
  });
  const owns = "a REDIS_URL, a DATABASE_SCHEMA, or a JOB_QUEUE_KEY and a DLQ_KEY of its own";
  for (const key of ["jobs", "deadLetters"] as const)
    requireApart(cells, owns, ({ redis }) => redis && `${redis.url.replace(/^.*@/, "")} ${redis.keys[key]}`);
  return cells as [Cell, ...Cell[]];
}

function requireApart(cells: readonly Cell[], needed: string, valueOf: (cell: Cell) => string | undefined): void {
  for (const [value, [one, other]] of Map.groupBy(cells, valueOf))
    if (value !== undefined && one && other)
      throw new SettingError(`CELLS_FILE must give each cell ${needed}; ${one.name} and ${other.name} have the same`);
}

function cellOf(name: string, set: OwnValues): Cell {
  const own = keysOf(set.DATABASE_SCHEMA);
  const keys = { jobs: set.JOB_QUEUE_KEY ?? own.jobs, deadLetters: set.DLQ_KEY ?? own.deadLetters };
  if (isWithin(keys.jobs, keys.deadLetters) || isWithin(keys.deadLetters, keys.jobs))
    throw new SettingError(
      `JOB_QUEUE_KEY and DLQ_KEY must be two names, neither the beginning of the other; got ${JSON.stringify(keys.jobs)} and ` +
        JSON.stringify(keys.deadLetters),
    );
  const tls = redisTls(set);
  return {
    name,
    database: { url: databaseUrl(set), schema: set.DATABASE_SCHEMA },
    redis: set.REDIS_URL === undefined ? undefined : { url: set.REDIS_URL, ...(tls && { tls }), keys },
  };
}

/** Queues and tenants add parts to these names, each after a colon. */
const isWithin = (name: string, other: string) => `${name}:`.startsWith(`${other}:`);
