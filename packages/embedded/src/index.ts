export { findRedisServer } from "./redis/find-redis.ts";
export { freePort } from "./process/free-port.ts";
export type { ServerNews } from "./process/server-handle.ts";
export { lastUrl } from "./postgres/password.ts";
export { startPostgres, type EmbeddedPostgres, type PostgresOptions } from "./postgres/postgres.ts";
export { startRedis, type EmbeddedRedis, type RedisOptions } from "./redis/redis.ts";
