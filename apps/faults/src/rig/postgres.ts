import { join } from "node:path";
import { startPostgres, type EmbeddedPostgres } from "@atlasqueue/embedded";
import { eventually, startPair, type Pair } from "@atlasqueue/harness/servers";
import postgres, { type Sql } from "postgres";
import { alive } from "./alive.ts";

export type PostgresRig = {
  pair: Pair;
  primary(): EmbeddedPostgres;
  /** A connection to the primary with a deadline, for one piece of work. */
  asAdmin<T>(act: (sql: Sql) => Promise<T>): Promise<T>;
  /** The primary's machine is gone, the standby takes over. */
  failover(): Promise<void>;
  /** Whatever is not running is started again, and there is a standby that follows. */
  restore(): Promise<void>;
  stop(): Promise<void>;
};

// Processes are killed here, not machines: what a killed one wrote is in the system's cache.
const settings = {
  fsync: "off",
  max_connections: "150",
  wal_keep_size: "1GB",
  // A frozen caller's transaction must not outlast the run by its dead TCP connection.
  tcp_keepalives_idle: "5",
  tcp_keepalives_interval: "2",
  tcp_keepalives_count: "2",
  log_min_messages: "warning",
};

export type PostgresOptions = {
  folder: string;
  synchronous: boolean;
  moved(primary: EmbeddedPostgres): void;
};

/** A primary with a streaming standby, which commits wait for unless told otherwise. */
export async function startPostgresRig({ folder, synchronous, moved }: PostgresOptions): Promise<PostgresRig> {
  const first = await startPostgres({ dataDir: join(folder, "postgres"), settings });
  const options = { synchronous, lag_ms: 200, settings, moved };
  const pair = await startPair(first, options).catch(async (error: unknown) => {
    await first.stop();
    throw error;
  });
  const asAdmin = async <T>(act: (sql: Sql) => Promise<T>) => {
    // Nothing awaits the fetching of types: a connection lost meanwhile would end the whole run.
    const sql = postgres(pair.primary().url, { max: 1, fetch_types: false, onnotice: () => {}, connect_timeout: 5 });
    try {
      return await act(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  };
  return {
    pair,
    primary: () => pair.primary(),
    asAdmin,
    failover: () => pair.kill(),
    async restore() {
      const running = pair.primary();
      if (!alive(running.pid)) await running.restart();
      await eventually(() => asAdmin((sql) => sql`SELECT 1`), { timeout_ms: 60_000, interval_ms: 100 });
      if (pair.standby().postgres === running) return pair.refill();
      if (!alive(pair.standby().postgres.pid)) await pair.standby().postgres.restart();
    },
    async stop() {
      await Promise.allSettled([pair.stop(), first.stop()]);
    },
  };
}
