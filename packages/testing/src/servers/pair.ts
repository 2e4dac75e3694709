import { rmSync } from "node:fs";
import type { EmbeddedPostgres } from "@atlasqueue/embedded";
import postgres from "postgres";
import { eventually } from "../eventually.ts";
import { tcpProxy, type TcpProxy } from "../tcp-proxy.ts";
import { startStandby, type Standby } from "./standby.ts";

/** Two servers of which one takes writes, and who may take over from whom. */
export type Pair = {
  /** An address that always leads new connections to the server that should take writes. */
  readonly moving: TcpProxy;
  /** Names both servers; a client looks for the one that takes writes. */
  readonly both: string;
  /** The server that takes writes. */
  primary(): EmbeddedPostgres;
  /** The one that follows it, or followed it before it took over. */
  standby(): Standby;
  /** A new standby in the place of the server that failed last, whose data goes away. */
  refill(): Promise<void>;
  /** A planned change: the old server lives on and takes no writes, the other one has everything and takes them. */
  demote(): Promise<void>;
  /** The machine is gone, and the other server takes over with what it has. */
  kill(): Promise<void>;
  stop(): Promise<void>;
};

export type PairOptions = {
  /** Whether commits wait for the standby. */
  synchronous: boolean;
  /** How long what is streamed is on its way. */
  lag_ms?: number;
  /** Settings of the standbys, in which they have to be like the first server. */
  settings?: Readonly<Record<string, string>>;
  /** Called with the server that takes writes from now on. */
  moved?: (primary: EmbeddedPostgres) => void;
};

/**
 * The server, and a standby of it.
 *
 * @example
 * const pair = await startPair(system.servers.postgres, { synchronous: true });
 * const topology = await startProcesses(system, { env: { DATABASE_URL: pair.both } });
 * await pair.kill();
 */
export async function startPair(
  first: EmbeddedPostgres,
  { synchronous, lag_ms = 0, settings, moved }: PairOptions,
): Promise<Pair> {
  let primary = first;
  let failed: EmbeddedPostgres | undefined;
  let standby = await follow(undefined);
  const started: { stop(): Promise<void> }[] = [];
  const moving = await tcpProxy(first.url);
  const url = new URL(first.url);
  url.host = `127.0.0.1:${first.port}`;
  const both = url.href.replace(url.host, `${url.host},127.0.0.1:${standby.postgres.port}`);

  async function follow(port: number | undefined): Promise<Standby> {
    const made = await startStandby(primary, { port, settings });
    if (synchronous) await made.makeSynchronous();
    else made.link.delay(lag_ms);
    return made;
  }
  async function promote(): Promise<void> {
    await standby.promote();
    moving.pointAt(standby.postgres.url);
    failed = primary;
    primary = standby.postgres;
    started.push(standby);
    moved?.(primary);
  }
  return {
    primary: () => primary,
    standby: () => standby,
    moving,
    both,
    async refill() {
      if (failed === undefined) return;
      await failed.stop();
      rmSync(failed.dataDir, { recursive: true, force: true });
      standby = await follow(failed.port);
      failed = undefined;
    },
    async demote() {
      await refuseWrites(primary.url);
      await standby.catchUp();
      await promote();
    },
    async kill() {
      await primary.kill("SIGKILL");
      await promote();
    },
    async stop() {
      for (const one of [standby, ...started]) await one.stop();
      await moving.close();
    },
  };
}

/** From the next transaction on; resolves when those under way are over. */
async function refuseWrites(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  try {
    await sql`ALTER SYSTEM SET default_transaction_read_only = on`;
    await sql`SELECT pg_reload_conf()`;
    await eventually(async () => {
      const [row] = await sql<{ writers: number; told: boolean }[]>`
        SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE backend_xid IS NOT NULL) AS writers,
               current_setting('default_transaction_read_only') = 'on' AS told`;
      return row?.told === true && row.writers === 0;
    });
  } finally {
    await sql.end({ timeout: 1 });
  }
}
