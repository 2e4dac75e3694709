import { text, atlasqueue, bytes, time } from "../drizzle.ts";

/** Secrets shared by all processes on this database, by purpose. They belong to the database: no tenant has any. */
export const signingKeys = atlasqueue.table("signing_keys", {
  name: text().primaryKey(),
  key: bytes().notNull(),
  created_at: time().notNull().defaultNow(),
});
