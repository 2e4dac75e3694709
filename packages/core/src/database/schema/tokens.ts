import type { Scope } from "@atlasqueue/contract";
import { foreignKey, primaryKey, text, uuid, atlasqueue, bytes, time } from "../drizzle.ts";

/** The owners of jobs. The default tenant needs no row. */
export const tenants = atlasqueue.table("tenants", {
  tenant: text().primaryKey(),
  /** Who it was provisioned for. */
  email: text(),
  created_at: time().notNull().defaultNow(),
  /** Roles without rights on the tables that may submit its jobs in SQL: read by the function `submitting_tenant`. */
  submit_roles: text().array(),
  /** The cell that has its jobs. Null: the home cell. Only the home cell's table says it. */
  cell: text(),
  /** The cell that its rows are going to, for as long as they are on their way. */
  moving_to: text(),
});

/** What lets a caller in. The token itself is shown once and never stored. */
export const tokens = atlasqueue.table(
  "tokens",
  {
    id: uuid().notNull(),
    tenant: text()
      .notNull()
      .references(() => tenants.tenant),
    name: text().notNull(),
    /** SHA-256 of the token, which is random enough to need no salt. */
    hash: bytes().notNull().unique(),
    /** The first characters, by which a person recognizes it. */
    hint: text().notNull(),
    scopes: text().array().$type<Scope[]>().notNull(),
    created_at: time().notNull().defaultNow(),
    expires_at: time(),
    last_used_at: time(),
    /** The one that replaced it, until that is gone: a token has one successor. */
    rotated_to: uuid(),
    /** When it would end, had nothing ever replaced it; `infinity`: never. Null: nothing has, and `expires_at` says it. */
    own_expires_at: time(),
  },
  (row) => [
    primaryKey({ columns: [row.tenant, row.id] }),
    // The migration sets only `rotated_to` to null, which drizzle cannot express.
    foreignKey({ columns: [row.tenant, row.rotated_to], foreignColumns: [row.tenant, row.id] }).onDelete("set null"),
  ],
);

/**
 * What browsers hold in place of a token: it works as long as the token does, and half a day at most. A table and not a
 * signed text, so that signing out ends it for good. See decisions/2026-11-21-tokens.md.
 */
export const sessions = atlasqueue.table(
  "sessions",
  {
    /** SHA-256 of the cookie's text. */
    hash: bytes().primaryKey(),
    tenant: text().notNull(),
    token_id: uuid().notNull(),
    created_at: time().notNull().defaultNow(),
    expires_at: time().notNull(),
  },
  (row) => [
    foreignKey({ columns: [row.tenant, row.token_id], foreignColumns: [tokens.tenant, tokens.id] }).onDelete("cascade"),
  ],
);
