import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@atlasqueue/embedded";
import { eventually } from "../eventually.ts";
import { findProgram, keepsStatements } from "./programs.ts";

export type PgBouncer = {
  /** The server's URL with the pooler's address in place of the server's. */
  readonly url: string;
  /** Kills it with all its connections, and starts it on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** What is in its file besides, such as `query_wait_timeout`; the names are PgBouncer's. */
export type PgBouncerOptions = {
  pool_size: number;
  settings?: Readonly<Record<string, string | number>>;
  /** Prepared statements are kept, which needs 1.21. */
  keeps_statements?: boolean;
};

/** What pooler.md tells operators to set. */
const statements_max = 200;

/**
 * A PgBouncer in transaction mode in front of a test's server: each transaction runs on whichever of `pool_size`
 * connections is free, and no prepared statement is kept from one to the next unless asked for. Stopping it is up to you.
 *
 * @example
 * const pooler = await pgBouncer(servers.postgres.url, { pool_size: 4 });
 * afterAll(() => pooler.stop());
 */
export async function pgBouncer(
  server_url: string,
  { pool_size, settings = {}, keeps_statements = false }: PgBouncerOptions,
): Promise<PgBouncer> {
  const program = findProgram(keeps_statements ? "newer_pgbouncer" : "pgbouncer");
  if (program === undefined) throw new Error("there is no such pgbouncer here; `pnpm topology` installs it");
  const url = new URL(server_url);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "pgbouncer-"));
  chmodSync(folder, 0o755);
  const login = `user=${decodeURIComponent(url.username)} password=${decodeURIComponent(url.password)}`;
  const lines = [
    "[databases]",
    `* = host=${url.hostname} port=${url.port} ${login}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    // Every client is logged in as above.
    "auth_type = any",
    "pool_mode = transaction",
    `default_pool_size = ${pool_size}`,
    "max_client_conn = 500",
    ...(keepsStatements(program) ? [`max_prepared_statements = ${keeps_statements ? statements_max : 0}`] : []),
    // It refuses to run as root.
    ...(process.getuid?.() === 0 ? ["user = nobody"] : []),
    ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
  ];
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(file, lines.join("\n"));
  let end = await start(program, file, port);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    async restart() {
      await end();
      end = await start(program, file, port);
    },
    async stop() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns what ends it. */
async function start(program: string, file: string, port: number): Promise<() => Promise<void>> {
  const child = spawn(program, ["-q", file], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
  const gone = once(child, "exit");
  const end = async () => {
    child.kill("SIGKILL");
    await gone;
  };
  try {
    await eventually(() => answers(port));
    return end;
  } catch (error) {
    await end();
    throw new Error(`pgbouncer did not start: ${said}`, { cause: error });
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
