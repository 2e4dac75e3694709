import { execFile } from "node:child_process";
import { chownSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { startPostgres, type EmbeddedPostgres } from "@atlasqueue/embedded";
import postgres from "postgres";
import { eventually } from "../eventually.ts";
import { tcpProxy, type TcpProxy } from "../tcp-proxy.ts";
import { settings } from "./cluster-template.ts";

export type Standby = {
  readonly postgres: EmbeddedPostgres;
  /** What is streamed goes through here, so that a test can hold it up. */
  readonly link: TcpProxy;
  /** From now on commits of the primary wait for it. */
  makeSynchronous(): Promise<void>;
  /** Resolves when it has all that the primary has written so far. */
  catchUp(): Promise<void>;
  /** Resolves when it takes writes. */
  promote(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * A streaming standby of a running server, made from a backup of it; same database and password. The primary knows it
 * by `name`. Its data lies next to the server's and goes away with it.
 *
 * @example
 * const standby = await startStandby(servers.postgres);
 * await standby.makeSynchronous();
 */
export async function startStandby(
  primary: EmbeddedPostgres,
  {
    port,
    name = "standby",
    settings: more = {},
  }: { port?: number | undefined; name?: string; settings?: Readonly<Record<string, string>> | undefined } = {},
): Promise<Standby> {
  const dataDir = join(dirname(primary.dataDir), `${name}-${Date.now()}`);
  await backUp(primary, dataDir);
  const link = await tcpProxy(primary.url);
  const { username, password } = new URL(primary.url);
  const from = `host=127.0.0.1 port=${link.port} user=${username} password=${password} application_name=${name}`;
  const server = await startPostgres({ dataDir, port, settings: { ...settings, ...more, primary_conninfo: from } });
  const asked = async <Row extends object>(url: string, text: string): Promise<Row | undefined> => {
    const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
    try {
      const [row] = await sql.unsafe<Row[]>(text);
      return row;
    } finally {
      await sql.end({ timeout: 1 });
    }
  };
  return {
    postgres: server,
    link,
    async makeSynchronous() {
      await asked(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
      await asked(primary.url, "SELECT pg_reload_conf()");
      const state = "SELECT sync_state FROM pg_stat_replication";
      await eventually(async () => (await asked<{ sync_state: string }>(primary.url, state))?.sync_state === "sync");
    },
    async catchUp() {
      const at = await asked<{ at: string }>(primary.url, "SELECT pg_current_wal_flush_lsn()::text AS at");
      const has = `SELECT pg_last_wal_replay_lsn() >= '${at?.at}' AS has`;
      await eventually(async () => (await asked<{ has: boolean }>(server.url, has))?.has === true);
    },
    async promote() {
      const promoted = await asked<{ done: boolean }>(server.url, "SELECT pg_promote() AS done");
      if (promoted?.done !== true) throw new Error("the standby was not promoted");
    },
    async stop() {
      await server.stop();
      await link.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A base backup of a running server, as pg_basebackup makes one; npm's PostgreSQL comes without that program. */
async function backUp({ url, dataDir }: EmbeddedPostgres, to: string): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  try {
    await sql`SELECT pg_backup_start('standby', true)`;
    await copy(dataDir, to);
    const [label] = await sql<{ labelfile: string }[]>`SELECT labelfile FROM pg_backup_stop(false)`;
    // As root the server runs as another user, who owns its data.
    const { uid, gid } = statSync(to);
    for (const [file, text] of Object.entries({ backup_label: label?.labelfile ?? "", "standby.signal": "" })) {
      writeFileSync(join(to, file), text);
      chownSync(join(to, file), uid, gid);
    }
    // They speak for the server that the data was copied from.
    for (const file of ["postmaster.pid", "atlasqueue.owner"]) rmSync(join(to, file), { force: true });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** With owners and modes. Files that go away meanwhile, and those that come, are in the log. */
async function copy(from: string, to: string): Promise<void> {
  const run = promisify(execFile);
  await run("cp", ["-a", "--", from, to]).catch((error: { stderr?: string }) => {
    const lines = (error.stderr ?? "").split("\n").filter((line) => line !== "");
    if (lines.length === 0 || lines.some((line) => !line.includes("No such file or directory"))) throw error;
  });
}
