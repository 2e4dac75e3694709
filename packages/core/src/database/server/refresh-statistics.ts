import { composed } from "../composed.ts";
import type { Database } from "../connect.ts";
import { executeOn } from "../statement.ts";

/** Those that go from nothing to a million rows within a minute. */
const tables = [
  "jobs",
  "lease_batches",
  "idempotency_keys",
  "job_groups",
  "unique_keys",
  "queue_starts",
  "minute_rollups",
];

/**
 * Tell the planner how large our tables have become. A prepared statement keeps the plan that was best when it was
 * made, which for an empty table is to read all of it; a queue goes from nothing to a million rows within the minute
 * that autovacuum sleeps, and every claim would read them all. ANALYZE makes every connection replan. Without the right
 * to do it PostgreSQL warns and does nothing, and autovacuum fixes it a minute later.
 */
export async function refreshStatistics(database: Database): Promise<void> {
  await executeOn(database)({ text: `ANALYZE (SKIP_LOCKED) ${tables.join(", ")}`, params: [] });
}

/** Whether one of our tables is four times as large as the planner believes, and not tiny. */
export async function statisticsAreStale(database: Database): Promise<boolean> {
  const [row] = await executeOn(database)<{ stale: boolean }>({ text: stale, params: [] });
  return row?.stale ?? false;
}

const stale = composed(
  "database/stale-statistics",
  [],
  `
  SELECT EXISTS (
    SELECT FROM pg_class
    WHERE oid IN (${tables.map((table) => `'${table}'::regclass`).join(", ")})
      AND pg_relation_size(oid) > 4 * greatest(relpages, 16) * current_setting('block_size')::bigint) AS stale`,
);
