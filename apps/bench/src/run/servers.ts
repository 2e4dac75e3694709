import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres, startRedis } from "@atlasqueue/embedded";
import { Redis } from "ioredis";
import postgres, { type Sql } from "postgres";
import type { ServerUrls } from "../variants/variant.ts";

export type Servers = {
  versions: { postgres: string; redis: string };
  /** A new database and empty Redis servers for one run. `drop` removes what it left. */
  fresh(): Promise<{ urls: ServerUrls; drop(): Promise<void> }>;
  stop(): Promise<void>;
};

const durable = ["--appendonly", "yes", "--appendfsync", "always"];

/** As operate/sizing.md says, for all variants alike. */
const settings = {
  shared_buffers: `${Math.round(totalmem() / 4 / 2 ** 20)}MB`,
  min_wal_size: "1GB",
  max_wal_size: "4GB",
};

/**
 * One PostgreSQL with the settings of the page on sizing (fsync and synchronous_commit on), one Redis without persistence,
 * and one that fsyncs every write. Their data is in a temporary folder, which `stop` removes. `after_migrate_file` has SQL to be tried
 * without a migration.
 */
export async function startServers(after_migrate_file?: string): Promise<Servers> {
  const tried = after_migrate_file ? { after_migrate: readFileSync(after_migrate_file, "utf8") } : {};
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-bench-"));
  // mkdtemp lets only us in; as root, PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const started = await Promise.allSettled([
    startPostgres({ dataDir: join(folder, "postgres"), settings }),
    startRedis({ dir: join(folder, "redis-memory") }),
    startRedis({ dir: join(folder, "redis-durable"), args: durable }),
  ]);
  const stop = async () => {
    await Promise.all(started.map((one) => (one.status === "fulfilled" ? one.value.stop() : undefined)));
    rmSync(folder, { recursive: true, force: true });
  };
  const failed = started.find((one) => one.status === "rejected");
  const [pg, memory, disk] = started.map((one) => (one.status === "fulfilled" ? one.value.url : ""));
  if (failed || !pg || !memory || !disk) {
    await stop();
    throw failed?.reason ?? new Error("a server did not start");
  }

  const sql = postgres(pg, { max: 1, onnotice: () => {} });
  const redis = [memory, disk].map((url) => new Redis(url));
  const [row] = await sql<{ server_version: string }[]>`SHOW server_version`;
  const info = (await redis[0]?.info("server")) ?? "";
  let count = 0;
  return {
    versions: {
      postgres: [row?.server_version, ...Object.entries(settings).map((one) => one.join(" = "))].join(" · "),
      redis: /(?:redis|valkey)_version:(\S+)/.exec(info)?.[1] ?? "",
    },
    async fresh() {
      const name = `bench_${(count += 1)}`;
      await sql`CREATE DATABASE ${sql(name)}`;
      await Promise.all(redis.map((one) => one.flushall()));
      // So that no run pays for the pages an earlier one left dirty.
      await sql`CHECKPOINT`;
      const url = new URL(pg);
      url.pathname = `/${name}`;
      return {
        urls: { postgres: url.href, redis_memory: memory, redis_durable: disk, ...tried },
        async drop() {
          await disconnected(sql, name);
          await sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`;
        },
      };
    },
    async stop() {
      for (const one of redis) one.disconnect();
      await sql.end({ timeout: 1 });
      await stop();
    },
  };
}

/** Closed connections leave a moment later; the drop cuts off those that stay. */
async function disconnected(sql: Sql, name: string): Promise<void> {
  for (let look = 0; look < 50; look += 1) {
    const left = await sql`SELECT 1 FROM pg_stat_activity WHERE datname = ${name}`;
    if (left.length === 0) return;
    await delay(20);
  }
}
