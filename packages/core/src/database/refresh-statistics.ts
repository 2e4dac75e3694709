import { bounded } from "./bounded.ts";
import type { Database } from "./connect.ts";

/**
 * Tell the planner how large our tables have become. A prepared statement keeps the plan that was best when it was
 * made, and for an empty table that is to read all of it; a queue goes from nothing to a million rows within the minute
 * that autovacuum sleeps, and every claim would read them all. ANALYZE makes every connection plan anew. Without the
 * right to do it PostgreSQL warns and does nothing, and autovacuum sets it right a minute later.
 */
export async function refreshStatistics(database: Database): Promise<void> {
  await bounded(database, database.sql`ANALYZE (SKIP_LOCKED) jobs, lease_batches, idempotency_keys`);
}

/** A condition: one of our tables is four times as large as the planner last heard, and not tiny. */
export function statisticsAreStale({ sql }: Database) {
  return sql`EXISTS (
    SELECT FROM pg_class
    WHERE oid IN ('jobs'::regclass, 'lease_batches'::regclass, 'idempotency_keys'::regclass)
      AND pg_relation_size(oid) > 4 * greatest(relpages, 16) * current_setting('block_size')::bigint)`;
}
