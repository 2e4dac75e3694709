import postgres from "postgres";
import { residentMb, treePrivateMb } from "../../costs/process-usage.ts";
import { postmasterPid, redisPid } from "../../costs/server-pids.ts";
import type { Row } from "../../report/result.ts";
import type { ServerUrls } from "../../variants/variant.ts";

/** One look at everything that could grow. */
export type Sample = {
  tables_mb: number;
  indexes_mb: number;
  dead_rows: number;
  log_mb: number;
  /** So far, by sequential scans. */
  scanned_rows: number;
  api_mb: number;
  worker_mb: number;
  postgres_mb: number;
  redis_mb: number;
};

/** As `servers.ts` sets it: until then PostgreSQL keeps what it has written, to write on it again. */
const max_wal_size_mb = 4_096;

/** What of a sample is reported, in what unit, and how much more of it is never growth. */
export const watched: readonly { of: keyof Sample; name: string; unit: Row["unit"]; slack: number }[] = [
  { of: "tables_mb", name: "tables", unit: "MB", slack: 8 },
  { of: "indexes_mb", name: "indexes", unit: "MB", slack: 8 },
  { of: "dead_rows", name: "dead rows", unit: "rows", slack: 10_000 },
  { of: "log_mb", name: "PostgreSQL's log on disk", unit: "MB", slack: max_wal_size_mb },
  { of: "api_mb", name: "memory of the API", unit: "MB", slack: 8 },
  { of: "worker_mb", name: "memory of the worker", unit: "MB", slack: 8 },
  { of: "postgres_mb", name: "own memory of PostgreSQL's processes", unit: "MB", slack: 8 },
  { of: "redis_mb", name: "memory of Redis", unit: "MB", slack: 8 },
];

type Watch = { look(): Promise<Sample>; close(): Promise<void> };

/** Looks at a database, and at the processes that use it. Linux only. */
export async function watch(servers: ServerUrls, pids: { api: number; worker: number }): Promise<Watch> {
  const sql = postgres(servers.postgres, { max: 1, fetch_types: false });
  const [postmaster = 0, redis] = await Promise.all([postmasterPid(sql), redisPid(servers.redis_memory)]);
  return {
    async look() {
      const [stored] = await sql<Pick<Sample, "tables_mb" | "indexes_mb" | "dead_rows" | "log_mb" | "scanned_rows">[]>`
        SELECT sum(pg_table_size(relid))::float8 / 1048576 AS tables_mb,
               sum(pg_indexes_size(relid))::float8 / 1048576 AS indexes_mb,
               sum(n_dead_tup)::float8 AS dead_rows, sum(seq_tup_read)::float8 AS scanned_rows,
               (SELECT sum(size)::float8 / 1048576 FROM pg_ls_waldir()) AS log_mb
        FROM pg_stat_user_tables`;
      if (!stored) throw new Error("the database has no tables");
      const [api_mb, worker_mb, redis_mb, postgres_mb] = await Promise.all([
        residentMb(pids.api),
        residentMb(pids.worker),
        residentMb(redis),
        treePrivateMb(postmaster),
      ]);
      return { ...stored, api_mb, worker_mb, redis_mb, postgres_mb };
    },
    close: () => sql.end({ timeout: 1 }),
  };
}
