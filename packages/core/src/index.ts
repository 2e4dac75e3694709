// What users of the library import. What only our own apps and packages need is in internal.ts.
export type { CallerTransaction } from "./database/caller-transaction.ts";
export { connectDatabase, type Database, type DatabaseOptions, type Sql } from "./database/connect.ts";
export { DatabaseTimeoutError, isUnavailable } from "./database/errors.ts";
export { migrateDatabase } from "./database/migrate.ts";
export type { Retention } from "./maintenance/retention.ts";
export { observeAll, type AtlasEvent, type EventName, type Observe } from "./observe/events.ts";
export { createLogger, logEvents, type DestinationStream, type Logger, type LogTap } from "./observe/log.ts";
export type { LogLevel } from "./observe/log-levels.ts";
export { createMetrics, type Metrics } from "./observe/metrics.ts";
export { SettingError } from "./program/settings.ts";
export {
  createQueue,
  IdempotencyMismatchError,
  InvalidJobError,
  type Queue,
  type QueueJob,
  type QueueOptions,
  type Submitted,
  UniqueConflictError,
} from "./queue.ts";
export { InvalidScheduleError, type Schedules } from "./schedules/schedules.ts";
export type { SignalSent } from "./steps/queue-signal.ts";
export type { BackoffPolicy } from "./settle/backoff.ts";
export type { SignalKeys } from "./signal/keys.ts";
export { memorySignal } from "./signal/memory/signal.ts";
export { noSignal } from "./signal/none.ts";
export { redisSignal, type RedisSignalOptions } from "./signal/redis/signal.ts";
export type { Signal } from "./signal/signal.ts";
