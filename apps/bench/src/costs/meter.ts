import { setTimeout as delay } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import type { ServerUrls } from "../variants/variant.ts";
import type { Costs } from "./costs.ts";
import { treeCpuSeconds, treeWaitSeconds } from "./process-usage.ts";
import { postmasterPid, redisPid } from "./server-pids.ts";

/** A rate, and what each job of it cost. There are no costs where there is no /proc. */
export type Rate = { unit: "per second"; value: number; costs?: Costs };

type Measurement = {
  /**
   * The rate and the costs of `jobs` since the start. The clock stops at once; then `close` runs, before the log's
   * fsyncs are counted: a connection that closes reports all of its own, an open one only once a second.
   */
  end(jobs: number, close?: () => Promise<unknown>): Promise<Rate>;
};

export type Meter = {
  /** From now on. `client`: whose processor time counts as the client's; by default this process and all it started. */
  start(client?: readonly number[]): Promise<Measurement>;
  close(): Promise<void>;
};

/** In less, most of PostgreSQL's processes have reported nothing yet. */
const fsyncs_ms_min = 2_000;
/** Time for the processes behind closed connections to report and leave. */
const leave_ms = 100;

type Look = { client: number; postgres: number; redis: number; waited: number; wal_bytes: number };

/**
 * Measures rates together with what they cost: processor time from /proc, and the log from PostgreSQL, asked through
 * another database.
 *
 * @example
 * const measurement = await meter.start();
 * await addAll(jobs);
 * const { value, costs } = await measurement.end(jobs);
 */
export async function openMeter(servers: ServerUrls): Promise<Meter> {
  const url = new URL(servers.postgres);
  url.pathname = "/postgres";
  const sql = postgres(url.href, { max: 1, fetch_types: false });
  const [postmaster, ...redis] = await Promise.all([
    postmasterPid(sql),
    redisPid(servers.redis_memory),
    redisPid(servers.redis_durable),
  ]);
  const look = async (client: readonly number[]): Promise<Look | undefined> => {
    if (postmaster === undefined) return undefined;
    return {
      client: await treeCpuSeconds(client),
      postgres: await treeCpuSeconds([postmaster]),
      redis: await treeCpuSeconds(redis),
      waited: await treeWaitSeconds([...client, postmaster, ...redis]),
      wal_bytes: await walBytes(sql),
    };
  };
  return {
    async start(client = [process.pid]) {
      const fsyncs = await walFsyncs(sql);
      const before = await look(client);
      const started = performance.now();
      return {
        async end(jobs, close) {
          const elapsed_ms = performance.now() - started;
          const after = await look(client);
          if (close) {
            await close();
            await delay(leave_ms);
          }
          const rate: Rate = { unit: "per second", value: (jobs / elapsed_ms) * 1_000 };
          if (!before || !after) return rate;
          const us = (of: "client" | "postgres" | "redis" | "waited") => ((after[of] - before[of]) * 1e6) / jobs;
          const costs: Costs = {
            client_us: us("client"),
            postgres_us: us("postgres"),
            redis_us: us("redis"),
            waited_us: us("waited"),
            wal_bytes: (after.wal_bytes - before.wal_bytes) / jobs,
          };
          if (elapsed_ms >= fsyncs_ms_min) costs.wal_fsyncs = ((await walFsyncs(sql)) - fsyncs) / jobs;
          return { ...rate, costs };
        },
      };
    },
    close: () => sql.end({ timeout: 1 }),
  };
}

async function walBytes(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS bytes`;
  return row?.bytes ?? NaN;
}

/** Of the log alone: what checkpoints sync is no job's. */
async function walFsyncs(sql: Sql): Promise<number> {
  const [row] = await sql<{ fsyncs: number }[]>`
    SELECT coalesce(sum(fsyncs), 0)::float8 AS fsyncs FROM pg_stat_io WHERE object = 'wal'`;
  return row?.fsyncs ?? NaN;
}
