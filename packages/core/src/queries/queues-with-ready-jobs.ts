import { bounded } from "../database/bounded.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { isLimited } from "./queue-room.ts";

/**
 * Queues that have ready jobs and are not paused, whoever serves them. Steps from one to the next in the
 * index, whatever the backlogs; backwards, to land on each queue's newest job and not on the entries of claimed ones.
 */
export async function queuesWithReadyJobs(
  deps: Pick<Deps, "database">,
  queues_max: number,
): Promise<(QueueRef & { limited: boolean })[]> {
  const { sql } = deps.database;
  return bounded(
    deps.database,
    sql<(QueueRef & { limited: boolean })[]>`
    WITH RECURSIVE found AS (
      (SELECT tenant, queue FROM jobs WHERE ready_at IS NOT NULL ORDER BY tenant DESC, queue DESC LIMIT 1)
      UNION ALL
      SELECT next.tenant, next.queue FROM found, LATERAL (
        SELECT tenant, queue FROM jobs WHERE ready_at IS NOT NULL AND (tenant, queue) < (found.tenant, found.queue)
        ORDER BY tenant DESC, queue DESC LIMIT 1) AS next
    )
    SELECT found.tenant, found.queue, coalesce(${sql.unsafe(isLimited)}, false) AS limited
    FROM found LEFT JOIN queues ON queues.tenant = found.tenant AND queues.queue = found.queue
    WHERE paused_at IS NULL
    LIMIT ${queues_max}`,
  );
}
