import type { BackoffPolicy, Retention } from "@atlasqueue/core";
import { default_audit_hours } from "@atlasqueue/core/internal";
import { keysOf, SettingError } from "@atlasqueue/core/internal/program";
import type { z } from "zod";
import { redisSettings, redisTls } from "./redis-settings.ts";
import { databaseSettings, databaseUrl, setting } from "./settings.ts";

/** The settings of every program that talks to the servers. */
export const serverSettings = {
  ...databaseSettings,
  DATABASE_PREPARED_STATEMENTS: setting.flag().default(true),
  ...redisSettings,
  JOB_QUEUE_KEY: setting.text().optional(),
  DLQ_KEY: setting.text().optional(),
  LOG_LEVEL: setting.logLevel().default("info"),
  PAUSED_AT_START: setting.flag().default(false),
};

type ServerValues = z.output<z.ZodObject<typeof serverSettings>> & {
  DATABASE_CONNECTIONS_MAX: number;
  DATABASE_TIMEOUT_SECONDS: number;
};

/**
 * What those settings amount to; each program decides for itself how many connections it opens and how long a query may
 * take.
 */
export function serverConfig(set: ServerValues) {
  const own = keysOf(set.DATABASE_SCHEMA);
  const keys = { jobs: set.JOB_QUEUE_KEY ?? own.jobs, deadLetters: set.DLQ_KEY ?? own.deadLetters };
  if (isWithin(keys.jobs, keys.deadLetters) || isWithin(keys.deadLetters, keys.jobs))
    throw new SettingError(
      `JOB_QUEUE_KEY and DLQ_KEY must be two names, neither the beginning of the other; got ${JSON.stringify(keys.jobs)} and ` +
        JSON.stringify(keys.deadLetters),
    );
  const tls = redisTls(set);
  return {
    database: {
      url: databaseUrl(set),
      schema: set.DATABASE_SCHEMA,
      connectionsMax: set.DATABASE_CONNECTIONS_MAX,
      timeoutMs: set.DATABASE_TIMEOUT_SECONDS * 1_000,
      preparedStatements: set.DATABASE_PREPARED_STATEMENTS,
    },
    /** Without it there are no signals between processes, and workers find jobs by their sweep. */
    redis: set.REDIS_URL === undefined ? undefined : { url: set.REDIS_URL, ...(tls && { tls }), keys },
    log_level: set.LOG_LEVEL,
    paused_at_start: set.PAUSED_AT_START,
  };
}

export type ServerConfig = ReturnType<typeof serverConfig>;

/** Queues and tenants add parts to these names, each after a colon. */
const isWithin = (name: string, other: string) => `${name}:`.startsWith(`${other}:`);

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
