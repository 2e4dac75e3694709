import { join } from "node:path";
import { lastUrl } from "@atlasqueue/embedded";
import { readServerSettings, type Env } from "./config.ts";
import { Trouble } from "./exit.ts";

/**
 * The environment, with the servers of the `start` that uses this data folder where it names no database. They may have
 * been stopped since. Throws `Trouble` when there was none.
 *
 * @example
 * await withDatabase(withStarted(process.env), act);
 */
export function withStarted(env: Env): Env {
  const { data_dir, database_url, redis_url } = readServerSettings(env);
  if (database_url !== undefined) return env;
  const postgres = lastUrl(join(data_dir, "postgres"));
  if (postgres === undefined)
    throw new Trouble(`DATABASE_URL is not set, and nothing was ever started in ${data_dir}: start a system first`);
  const redis = redis_url ?? lastUrl(join(data_dir, "redis"));
  return { ...env, DATABASE_URL: postgres, ...(redis === undefined ? {} : { REDIS_URL: redis }) };
}
