import { sql, index, primaryKey, text, uuid } from "../drizzle.ts";
import { atlasqueue, time } from "./columns.ts";

/**
 * Which job holds a unique key of a queue. Jobs without one have no row, and settling a job does not touch its row: the
 * next job that wants the key checks, under the row's lock, whether the holder still holds it. See
 * decisions/2026-11-20-uniqueness.md.
 */
export const uniqueKeys = atlasqueue.table(
  "unique_keys",
  {
    tenant: text().notNull(),
    queue: text().notNull(),
    key: text().notNull(),
    job_id: uuid().notNull(),
    /** Until when the job holds it, whatever its status; null: until it is final. */
    window_ends_at: time(),
    /** When to check whether the row is still needed. */
    check_at: time().notNull(),
  },
  (row) => [
    primaryKey({ columns: [row.tenant, row.queue, row.key] }),
    index("unique_keys_check").on(row.check_at),
    // A job is kept while its window is open.
    index("unique_keys_window")
      .on(row.job_id)
      .where(sql`window_ends_at IS NOT NULL`),
  ],
);
