import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Env } from "../config.ts";
import type { Undo } from "./undo.ts";

/** The environment of a system with servers of its own, free ports, and data in a temporary folder that goes at its end. */
export function ephemeralEnv(given: Env, undo: Undo): Env {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-"));
  // As root, PostgreSQL runs as another user, who has to reach its data.
  chmodSync(folder, 0o755);
  undo.add(async () => rmSync(folder, { recursive: true, force: true }));
  const none = {
    DATABASE_URL: undefined,
    DATABASE_URL_FILE: undefined,
    REDIS_URL: undefined,
    REDIS_URL_FILE: undefined,
    DATABASE_TLS_CA_FILE: undefined,
    REDIS_TLS_CA_FILE: undefined,
    REDIS_TLS_CERT_FILE: undefined,
    REDIS_TLS_KEY_FILE: undefined,
    REDIS_TLS_SERVERNAME: undefined,
  };
  return { ...given, ...none, DATA_DIR: folder, API_PORT: "0", WORKER_METRICS_PORT: "0" };
}
