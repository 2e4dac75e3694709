import { pgTable, text } from "drizzle-orm/pg-core";
import { bytes, time } from "./columns.ts";

/** Secrets that all processes on this database share, by what they are for. */
export const signingKeys = pgTable("signing_keys", {
  name: text().primaryKey(),
  key: bytes().notNull(),
  created_at: time().notNull().defaultNow(),
});
