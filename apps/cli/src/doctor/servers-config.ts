import { parseSettings, serverConfig, serverSettings, type ServerConfig } from "@atlasqueue/program";
import { z } from "zod";
import type { Env } from "../config.ts";

/** The servers as API and worker read them, for code that looks at both. Throws `SettingError`. */
export function readServersConfig(env: Env): ServerConfig {
  const set = parseSettings(z.object(serverSettings), env);
  return serverConfig({ ...set, DATABASE_CONNECTIONS_MAX: 2, DATABASE_TIMEOUT_SECONDS: 10 });
}
