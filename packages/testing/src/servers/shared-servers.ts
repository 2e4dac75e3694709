import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import "./provided.ts";

/**
 * The run's shared PostgreSQL, as superuser. For making databases with `createDatabase`, not for putting tables in.
 *
 * @example
 * const database = await createDatabase(postgresUrl());
 * afterAll(() => database.drop());
 */
export function postgresUrl(): string {
  return inject("postgresUrl");
}

/**
 * The run's shared Redis. Other files use it at the same time: keep to `uniqueKeys()`, and never flush it.
 *
 * @example
 * const redis = new Redis(redisUrl());
 * afterAll(() => redis.disconnect());
 */
export function redisUrl(): string {
  return inject("redisUrl");
}

/**
 * Key names no one else uses, so that test files sharing a Redis don't collide.
 *
 * @example
 * const { jobsKey, dlqKey } = uniqueKeys();
 * await redis.lpush(jobsKey, id);
 */
export function uniqueKeys(): { readonly jobsKey: string; readonly dlqKey: string } {
  const prefix = `test:${randomUUID()}`;
  return { jobsKey: `${prefix}:jobs`, dlqKey: `${prefix}:dlq` };
}
