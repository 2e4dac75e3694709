import { basename, join } from "node:path";
import type { Logger } from "@atlasqueue/core";
import { findRedisServer, startPostgres, startRedis, type ServerNews } from "@atlasqueue/embedded";
import type { ServerSettings } from "../config.ts";
import { Trouble } from "../exit.ts";
import type { Undo } from "./undo.ts";

export type DatabaseServer =
  | { kind: "given"; url: string }
  | { kind: "embedded"; url: string; url_file: string; data_dir: string };

export type RedisServer =
  | { kind: "given"; url: string }
  | {
      kind: "embedded";
      url: string;
      url_file: string;
      password_file: string;
      port: number;
      cli: "redis-cli" | "valkey-cli";
    }
  | { kind: "none" };

/** The named database, or our own PostgreSQL, which is started again should it die. */
export async function databaseServer(settings: ServerSettings, undo: Undo, logger: Logger): Promise<DatabaseServer> {
  if (settings.database_url !== undefined) return { kind: "given", url: settings.database_url };
  const onEnd = tellOf("PostgreSQL", logger);
  const server = await startPostgres({ dataDir: join(settings.data_dir, "postgres"), onEnd }).catch(explain);
  undo.add(() => server.stop());
  return { kind: "embedded", url: server.url, url_file: server.urlFile, data_dir: server.dataDir };
}

/** The named Redis, or our own when this machine has the program; it is started again, too. */
export async function redisServer(settings: ServerSettings, undo: Undo, logger: Logger): Promise<RedisServer> {
  if (settings.redis_url !== undefined) return { kind: "given", url: settings.redis_url };
  const program = findRedisServer();
  if (program === undefined) return { kind: "none" };
  // With a folder, a server left behind by a killed process is found and stopped.
  const server = await startRedis({ dir: join(settings.data_dir, "redis"), onEnd: tellOf("Redis", logger) }).catch(
    explain,
  );
  undo.add(() => server.stop());
  const cli = basename(program) === "valkey-server" ? "valkey-cli" : "redis-cli";
  const { url, port, urlFile: url_file = "", passwordFile: password_file = "" } = server;
  return { kind: "embedded", url, url_file, password_file, port, cli };
}

/** What becomes of a server of our own that dies, in the log. */
const tellOf =
  (server: string, logger: Logger) =>
  ({ kind, ...more }: ServerNews) => {
    const event = `server_${kind}`;
    logger[kind === "started" ? "info" : "error"]({ event, server, ...more }, event);
  };

/** A taken folder, a full disk, a missing library: all reported by a server on the person's own machine. */
function explain(error: unknown): never {
  throw new Trouble(error instanceof Error ? error.message : String(error), { cause: error });
}
