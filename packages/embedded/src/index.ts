export { findRedisServer } from "./find-redis.ts";
export { freePort } from "./free-port.ts";
export { startPostgres, type EmbeddedPostgres, type PostgresOptions } from "./postgres.ts";
export { startRedis, type EmbeddedRedis, type RedisOptions } from "./redis.ts";
