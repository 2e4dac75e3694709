import { pgTable, text } from "../drizzle.ts";
import { bytes, time } from "./columns.ts";

/** Secrets shared by all processes on this database, by purpose. */
export const signingKeys = pgTable("signing_keys", {
  name: text().primaryKey(),
  key: bytes().notNull(),
  created_at: time().notNull().defaultNow(),
});
