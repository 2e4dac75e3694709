import { index, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { bytes, time } from "./columns.ts";

/** Who jobs belong to. The default tenant needs no row. */
export const tenants = pgTable("tenants", {
  tenant: text().primaryKey(),
  /** Whom it was provisioned for. */
  email: text().unique(),
  created_at: time().notNull().defaultNow(),
});

/** What lets a caller in. The token itself is shown once and never stored. */
export const tokens = pgTable(
  "tokens",
  {
    id: uuid().primaryKey(),
    tenant: text()
      .notNull()
      .references(() => tenants.tenant),
    name: text().notNull(),
    /** SHA-256 of the token, which is random enough to need no salt. */
    hash: bytes().notNull().unique(),
    /** The first characters, by which a person knows it again. */
    hint: text().notNull(),
    scopes: text().array().notNull(),
    created_at: time().notNull().defaultNow(),
    expires_at: time(),
    last_used_at: time(),
  },
  (row) => [index("tokens_tenant").on(row.tenant, row.id)],
);
