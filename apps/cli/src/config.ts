import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { faultOfUrl } from "@atlasqueue/client";
import { SettingError } from "@atlasqueue/core/internal/program";
import { databaseSettings, databaseUrl, parseSettings, setting } from "@atlasqueue/program/settings";
import { z } from "zod";

export type Env = Record<string, string | undefined>;

/** The variables the command itself reads; `start`, `api` and `worker` pass on the others. */
export const cliSettings = z.object({
  DATA_DIR: setting.text("the folder for the embedded servers' data").default(".atlasqueue"),
  DATABASE_URL: databaseSettings.DATABASE_URL.optional(),
  DATABASE_TLS_CA_FILE: databaseSettings.DATABASE_TLS_CA_FILE,
  DATABASE_SCHEMA: databaseSettings.DATABASE_SCHEMA,
  REDIS_URL: setting.redisUrl().optional(),
  ATLASQUEUE_URL: z
    .string()
    .refine((text) => faultOfUrl(text) === undefined)
    .describe("an http(s) URL such as http://127.0.0.1:8000, without a user, a password or a query")
    .default("http://127.0.0.1:8000"),
  // Not an option: everyone on the machine can see a command line.
  ATLASQUEUE_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{1,1000}$/)
    .describe("a token such as aq_…")
    .optional(),
});

export type ServerSettings = {
  /** Absolute. */
  data_dir: string;
  database_url: string | undefined;
  database_schema: string;
  redis_url: string | undefined;
};

/** Which servers `start` uses. Throws `SettingError` for a wrong variable. */
export function readServerSettings(env: Env): ServerSettings {
  const { DATA_DIR, DATABASE_URL, DATABASE_TLS_CA_FILE, DATABASE_SCHEMA, REDIS_URL } = parseSettings(
    cliSettings.omit({ ATLASQUEUE_URL: true, ATLASQUEUE_TOKEN: true }),
    env,
  );
  const database_url = DATABASE_URL && databaseUrl({ DATABASE_URL, DATABASE_TLS_CA_FILE });
  return {
    data_dir: resolve(callersFolder(env), DATA_DIR),
    database_url,
    database_schema: DATABASE_SCHEMA,
    redis_url: REDIS_URL,
  };
}

/** The database and its schema. Throws `SettingError` when there is none. */
export function readDatabase(env: Env): { url: string; schema: string } {
  const set = parseSettings(z.object(databaseSettings), env);
  return { url: databaseUrl(set), schema: set.DATABASE_SCHEMA };
}

/** The cell that `--cell` names. Throws `SettingError`, with the names that there are. */
export function cellNamed<Cell extends { name: string }>(cells: readonly Cell[], name: string): Cell {
  const found = cells.find((cell) => cell.name === name);
  if (found) return found;
  const names = cells.map((cell) => cell.name).join(", ");
  throw new SettingError(`--cell must be one of ${names}; got ${JSON.stringify(name)}`);
}

/** The API the commands talk to unless `--url` says otherwise. */
export function readApiUrl(env: Env): string {
  return parseSettings(cliSettings.pick({ ATLASQUEUE_URL: true }), env).ATLASQUEUE_URL;
}

/** What they send to an API with `AUTH=required`. */
export function readApiToken(env: Env): string | undefined {
  return parseSettings(cliSettings.pick({ ATLASQUEUE_TOKEN: true }), env).ATLASQUEUE_TOKEN;
}

/** Of the sources alone: three folders above what is installed from npm is a user's own project. */
const repository = import.meta.url.endsWith(".ts") ? resolve(fileURLToPath(new URL("../../..", import.meta.url))) : "";

/** The caller's directory: pnpm runs the root's scripts in the root and gives the real one in INIT_CWD. */
export function callersFolder(env: Env, cwd: string = process.cwd()): string {
  return env.INIT_CWD !== undefined && cwd === repository ? env.INIT_CWD : cwd;
}
