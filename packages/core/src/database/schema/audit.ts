import type { Actor, JsonObject } from "@atlasqueue/contract";
import { sql, boolean, integer, primaryKey, text, uniqueIndex, uuid, atlasqueue, json, time } from "../drizzle.ts";

/** What people and tokens did, apart from submitting and working: newest by id. */
export const auditLog = atlasqueue.table(
  "audit_log",
  {
    tenant: text().notNull(),
    id: uuid().notNull(),
    at: time().notNull().defaultNow(),
    actor: json<Actor>().notNull(),
    /** The actor's, to find what a token did. */
    token_id: uuid(),
    action: text().notNull(),
    target: text(),
    /** How many things it changed. */
    count: integer(),
    detail: json<JsonObject>(),
    /** The API's own; the caller's is in the log. */
    request_id: text(),
    /** Where the request came from. */
    address: text(),
    /** How many refused calls it stands for; null: it was not refused. */
    refused: integer(),
    /** False from before it is done until it is known to be done. */
    finished: boolean().notNull(),
    /** The request's, if it had one: no other act of the tenant has it. */
    idempotency_key: text(),
    /** Digest of the request that the key stands for. */
    fingerprint: text(),
  },
  (row) => [
    primaryKey({ columns: [row.tenant, row.id] }),
    uniqueIndex("audit_log_key")
      .on(row.tenant, row.idempotency_key)
      .where(sql`idempotency_key IS NOT NULL`),
  ],
);
export type ActRow = typeof auditLog.$inferSelect;
