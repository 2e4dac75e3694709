import { bounded } from "../database/bounded.ts";
import type { Deps } from "../deps.ts";

/** What a sweep would find. Times are milliseconds from now, negative when past, null when there is none. */
export type SweepOutlook = {
  due_in_ms: number | null;
  schedule_in_ms: number | null;
  lease_check_in_ms: number | null;
  any_queued: boolean;
  any_changes: boolean;
  newest_dead: Date | null;
  any_handovers: boolean;
};

/**
 * One cheap statement, so that an idle system asks the database one question a second. Each part is an index's end;
 * that of the ready jobs where the newest are, as at the other one lie the entries of those claimed meanwhile.
 * For three seconds after the server's start no lease is looked at: the renewals of workers that live come first.
 */
export async function sweepOutlook(deps: Pick<Deps, "database">): Promise<SweepOutlook> {
  const { sql } = deps.database;
  const [row] = await bounded(
    deps.database,
    sql<SweepOutlook[]>`
    SELECT
      (extract(epoch FROM (SELECT min(due_at) FROM jobs) - now()) * 1000)::float8 AS due_in_ms,
      (extract(epoch FROM (SELECT min(next_at) FROM schedules WHERE paused_at IS NULL) - now()) * 1000)::float8 AS schedule_in_ms,
      (extract(epoch FROM (
        SELECT greatest(check_at, pg_postmaster_start_time() + interval '3 seconds') FROM lease_batches ORDER BY check_at LIMIT 1
      ) - now()) * 1000)::float8 AS lease_check_in_ms,
      (SELECT true FROM jobs WHERE ready_at IS NOT NULL ORDER BY tenant DESC, queue DESC LIMIT 1) IS NOT NULL AS any_queued,
      EXISTS (SELECT FROM queue_changes) AS any_changes,
      (SELECT max(dead_at) FROM jobs) AS newest_dead,
      EXISTS (SELECT FROM group_handovers) AS any_handovers`,
  );
  if (!row) throw new Error("the outlook query gave no row");
  return row;
}
