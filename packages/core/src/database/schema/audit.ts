import type { Actor, JsonObject } from "@atlasqueue/contract";
import { boolean, index, integer, pgTable, text, uuid } from "../drizzle.ts";
import { json, time } from "./columns.ts";

/** What people and tokens did, apart from submitting and working: newest by id. */
export const auditLog = pgTable(
  "audit_log",
  {
    id: uuid().primaryKey(),
    tenant: text().notNull(),
    at: time().notNull().defaultNow(),
    actor: json<Actor>().notNull(),
    /** The actor's, to find what a token did. */
    token_id: uuid(),
    action: text().notNull(),
    target: text(),
    /** How many things it changed. */
    count: integer(),
    detail: json<JsonObject>(),
    request_id: text(),
    /** False from before it is done until it is known to be done. */
    finished: boolean().notNull().default(true),
  },
  (row) => [index("audit_log_tenant").on(row.tenant, row.id), index("audit_log_at").on(row.at)],
);
export type ActRow = typeof auditLog.$inferSelect;
