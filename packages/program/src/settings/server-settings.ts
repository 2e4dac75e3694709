import type { BackoffPolicy, Retention } from "@atlasqueue/core";
import { default_audit_hours } from "@atlasqueue/core/internal";
import type { LogLevel } from "@atlasqueue/core/internal/program";
import type { z } from "zod";
import { cellSettings, cellsOf, type Cell } from "./cells.ts";
import { setting } from "./settings.ts";

/** The settings of every program that talks to the servers. */
export const serverSettings = {
  ...cellSettings,
  DATABASE_PREPARED_STATEMENTS: setting.flag().default(true),
  LOG_LEVEL: setting.logLevel().default("info"),
  PAUSED_AT_START: setting.flag().default(false),
};

type Pool = { connectionsMax: number; timeoutMs: number; preparedStatements: boolean };

/** A cell, and how this program connects to it. */
export type CellConfig = Omit<Cell, "database"> & { database: Cell["database"] & Pool };

/** The servers of the home cell, and those of all cells, of which home is the first. */
export type ServerConfig = Pick<CellConfig, "database" | "redis"> & {
  cells: readonly [CellConfig, ...CellConfig[]];
  log_level: LogLevel;
  paused_at_start: boolean;
};

type ServerValues = z.output<z.ZodObject<typeof serverSettings>> & {
  DATABASE_CONNECTIONS_MAX: number;
  DATABASE_TIMEOUT_SECONDS: number;
};

/**
 * What those settings amount to; each program decides for itself how many connections it opens and how long a query may
 * take.
 */
export function serverConfig(set: ServerValues): ServerConfig {
  const pool = {
    connectionsMax: set.DATABASE_CONNECTIONS_MAX,
    timeoutMs: set.DATABASE_TIMEOUT_SECONDS * 1_000,
    preparedStatements: set.DATABASE_PREPARED_STATEMENTS,
  };
  const withPool = ({ database, ...cell }: Cell): CellConfig => ({ ...cell, database: { ...database, ...pool } });
  const [first, ...others] = cellsOf(set);
  const home = withPool(first);
  return {
    database: home.database,
    redis: home.redis,
    cells: [home, ...others.map(withPool)],
    log_level: set.LOG_LEVEL,
    paused_at_start: set.PAUSED_AT_START,
  };
}

/** The settings of every program that fails jobs: the workers, and the API for remote ones. */
export const retrySettings = {
  RETRY_BASE_DELAY_SECONDS: setting.seconds(0, 86_400).default(5),
  RETRY_MAX_DELAY_SECONDS: setting.seconds(0, 31_536_000).default(3_600),
  RETRY_JITTER_MAX_SECONDS: setting.seconds(0, 3_600).default(2),
};

export function retryPolicy(set: z.output<z.ZodObject<typeof retrySettings>>): BackoffPolicy {
  return {
    baseSeconds: set.RETRY_BASE_DELAY_SECONDS,
    maxSeconds: set.RETRY_MAX_DELAY_SECONDS,
    jitterMaxSeconds: set.RETRY_JITTER_MAX_SECONDS,
  };
}

/** The settings of every program that removes what has been kept long enough: workers and APIs, and the same for all. */
export const retentionSettings = {
  RETENTION_SUCCEEDED_HOURS: setting.hours(0.001, 876_000).default(168),
  RETENTION_DEAD_HOURS: setting.hours(0.001, 876_000).default(720),
  RETENTION_AUDIT_HOURS: setting.hours(1, 876_000).default(default_audit_hours),
  RESULT_TTL_SECONDS: setting.seconds(1, 315_360_000).optional(),
};

export function keptFor(set: z.output<z.ZodObject<typeof retentionSettings>>) {
  return {
    retention: {
      succeededHours: set.RETENTION_SUCCEEDED_HOURS,
      deadHours: set.RETENTION_DEAD_HOURS,
      auditHours: set.RETENTION_AUDIT_HOURS,
    } satisfies Retention,
    /** Undefined keeps results as long as their jobs. */
    result_ttl_seconds: set.RESULT_TTL_SECONDS,
  };
}
export type KeptFor = ReturnType<typeof keptFor>;
