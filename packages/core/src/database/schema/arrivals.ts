import { sql, doublePrecision, index, text, uuid } from "../drizzle.ts";
import type { Unique } from "@atlasqueue/contract";
import { atlasqueue, bytes } from "./columns.ts";

/**
 * Jobs that came in with a caller's own transaction and ask for what others may want too: an idempotency key, a unique
 * key, a place in a group. They get it after that transaction, from a statement of ours that deletes the row. Until
 * then the job is blocked, at place 0. Only the job's own new id is unique here, so that a transaction that stays open
 * keeps no one waiting. See decisions/2026-11-21-arrivals.md.
 */
export const arrivals = atlasqueue.table(
  "arrivals",
  {
    job_id: uuid().primaryKey(),
    tenant: text().notNull(),
    queue: text().notNull(),
    group_key: text(),
    /** As in `unique_keys`, with what its job asked for. */
    unique_key: text(),
    on_conflict: text().$type<Unique["on_conflict"]>(),
    window_seconds: doublePrecision(),
    idempotency_key: text(),
    request_hash: bytes(),
    key_ttl_seconds: doublePrecision(),
  },
  (row) => [
    // For the sweep: tenants take turns.
    index("arrivals_tenant").on(row.tenant, row.job_id),
    index("arrivals_group")
      .on(row.tenant, row.queue, row.group_key, row.job_id)
      .where(sql`group_key IS NOT NULL`),
    index("arrivals_key")
      .on(row.tenant, row.idempotency_key)
      .where(sql`idempotency_key IS NOT NULL`),
  ],
);
