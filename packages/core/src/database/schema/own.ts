import { boolean, text, atlasqueue, time, bytes } from "../drizzle.ts";

/**
 * By which this database recognizes its Redis, and notices a copy of itself there (`signal/redis-owner.ts`). It belongs
 * to the database: no tenant has any.
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

/** Secrets shared by all processes on this database, by purpose. They belong to the database: no tenant has any. */
export const signingKeys = atlasqueue.table("signing_keys", {
  name: text().primaryKey(),
  key: bytes().notNull(),
  created_at: time().notNull().defaultNow(),
});
