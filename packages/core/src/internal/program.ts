// What `packages/program` needs to read settings and to start a process. Loads neither drizzle nor a driver.
export { isShutOut, isTlsFault, isUnavailable } from "../database/errors.ts";
export { defaultSchema, isSchemaName, schemaAccepts } from "../database/schema/name.ts";
export { databaseUrlAccepts, DatabaseUrlError, parseDatabaseUrl } from "../database/server/connection-string.ts";
export { logLevels, type LogLevel } from "../observe/log-levels.ts";
export { pause } from "../pause.ts";
export { withinHeap } from "../memory-budget/bytes.ts";
export { SettingError } from "../settings/setting-error.ts";
export { keysOf, type SignalKeys } from "../signal/keys.ts";
export { parseRedisUrl, RedisUrlError, redisUrlAccepts } from "../signal/redis/address.ts";
export type { RedisTls } from "../signal/redis/dial.ts";
export { isTraceUrlTemplate } from "../tracing/trace-url.ts";
