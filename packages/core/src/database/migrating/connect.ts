import postgres, { type Patched } from "../driver.ts";
import { parseDatabaseUrl } from "../server/connection-string.ts";
import { openSocket } from "../socket.ts";

/** What a migration knows of its connections. */
export type Watch = {
  /** How many were found to lead nowhere any more. The driver only says that they were closed. */
  silences(): number;
  /** Does what may take as long as it takes: meanwhile no answer is no silence. */
  unhurried<T>(work: () => PromiseLike<T>): Promise<T>;
};

export const unwatched: Watch = { silences: () => 0, unhurried: async (work) => work() };

/** When we have been silent for as long, the server has ended our transaction; so has one that is, for all we know. */
const silence_ms_max_default = 10_000;
/** After this long without a word the system asks the other side's whether it is there, which takes ten seconds more. */
const keep_alive_seconds = 10;

/**
 * One connection to work with, and one to see who is in its way. When an answer that takes no time is not there after
 * `silence_ms_max`, its connection is given up, and what comes next dials anew: another host, perhaps.
 *
 * @example
 * const { sql, watch } = connectMigrator("postgres://db1,db2/atlasqueue");
 * await watch.unhurried(() => sql`CREATE INDEX jobs_by_type ON atlasqueue.jobs (type)`);
 */
export function connectMigrator(
  url: string,
  silence_ms_max = silence_ms_max_default,
): { sql: postgres.Sql; watch: Watch; ignored: string[] } {
  const { driver, connect_timeout_seconds, startup, ignored } = parseDatabaseUrl(url, "atlasqueue-migrate");
  let unhurried = 0;
  let silences = 0;
  const onEnd = (error: Error | null) => void (isSilence(error) && (silences += 1));
  const settings = {
    ...driver,
    connection: startup,
    max: 2,
    // A pooler may have each try on another connection.
    prepare: false,
    onnotice: () => {},
    fetch_types: false,
    connect_timeout: connect_timeout_seconds ?? Math.ceil(silence_ms_max / 1_000),
    keep_alive: keep_alive_seconds,
    // What follows comes from our patch, in patches/.
    socket: (_driver: unknown, host: string, port: number, isWaiting: () => boolean) =>
      openSocket({ host, port }, { silence_ms_max, isWaiting: () => unhurried === 0 && isWaiting(), onEnd }),
    onclose: (_id: number, broke?: boolean) => {
      // The other one leads to the same place.
      if (broke) (sql as unknown as Patched).retire();
    },
  };
  const sql: postgres.Sql = postgres(settings as unknown as postgres.Options<Record<string, never>>);
  return {
    sql,
    ignored,
    watch: {
      silences: () => silences,
      async unhurried(work) {
        unhurried += 1;
        try {
          return await work();
        } finally {
          unhurried -= 1;
        }
      },
    },
  };
}

/** Ours, or the system's. To dial in vain is another matter. */
function isSilence(error: Error | null): boolean {
  const { code = "", syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/.test(code) && syscall !== "connect";
}
