import postgres from "../driver.ts";
import { parseDatabaseUrl } from "../server/connection-string.ts";
import { openSocket } from "../socket.ts";

/** When we have been silent for as long, the server has ended our transaction. */
const silence_ms_max_default = 10_000;
/** After this long without an answer the system asks whether the other side is there, which takes ten seconds more. */
const keep_alive_seconds = 10;

export type Migrator = {
  sql: postgres.Sql;
  /** What the URL says and we ignore. */
  ignored: string[];
  /** Does what may take as long as it takes. Anything else is given up after ten seconds without an answer. */
  slowly<T>(work: () => PromiseLike<T>): Promise<T>;
};

/**
 * One connection for migrations.
 *
 * @example
 * const { sql, slowly } = connectMigrator("postgres://db1,db2/atlasqueue");
 * await slowly(() => sql`CREATE INDEX jobs_by_type ON atlasqueue.jobs (type)`);
 */
export function connectMigrator(url: string, silence_ms_max = silence_ms_max_default): Migrator {
  const { driver, connect_timeout_seconds, startup, ignored } = parseDatabaseUrl(url, "atlasqueue-migrate");
  let slow = false;
  const settings = {
    ...driver,
    connection: startup,
    max: 1,
    // A pooler may have each try on another connection.
    prepare: false,
    onnotice: () => {},
    fetch_types: false,
    connect_timeout: connect_timeout_seconds ?? Math.ceil(silence_ms_max / 1_000),
    keep_alive: keep_alive_seconds,
    // It comes from our patch, in patches/.
    socket: (_driver: unknown, host: string, port: number, isWaiting: () => boolean) =>
      openSocket({ host, port }, { silence_ms_max, isWaiting: () => !slow && isWaiting() }),
  };
  return {
    sql: postgres(settings as unknown as postgres.Options<Record<string, never>>),
    ignored,
    async slowly(work) {
      slow = true;
      try {
        return await work();
      } finally {
        slow = false;
      }
    },
  };
}
