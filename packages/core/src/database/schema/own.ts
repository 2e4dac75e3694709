import { boolean, text, atlasqueue, time, bytes } from "../drizzle.ts";

/**
 * How this database recognizes its Redis, and notices a copy of itself there (`signal/redis-owner.ts`). One row for the
 * whole database, not for each tenant.
 */
export const redisOwner = atlasqueue.table("redis_owner", {
  /** There is one row. */
  one: boolean().primaryKey().default(true),
  /** The last ones written to Redis, newest first. */
  nonces: text().array().notNull(),
  renewed_at: time().notNull().defaultNow(),
  /** The nonce last seen in Redis that is none of these. */
  stranger: text(),
  /** Until then another database is known to renew its own. */
  refused_until: time(),
});

/** Secrets that all processes on this database share, by purpose. They are the database's, not a tenant's. */
export const signingKeys = atlasqueue.table("signing_keys", {
  name: text().primaryKey(),
  key: bytes().notNull(),
  created_at: time().notNull().defaultNow(),
});
