import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/**
 * How many ready and how many blocked jobs of each queue are looked at, and how many in total of those waiting for a
 * time.
 */
const line_jobs_max = 200;
const due_jobs_max = 20_000;

/**
 * When the oldest job in a queue that is not running yet was made: ready ones, those behind another of their group or
 * waiting for other jobs, and those waiting for their time or a retry. No index has them by age, so it looks at the jobs whose turn comes next:
 * exact while at most 200 of a queue are ready or blocked, otherwise possibly too recent. Queues where nothing waits
 * are left out.
 *
 * @example
 * const since = (await oldestWaiting(deps, "default", ["mail"])).get("mail");
 */
export async function oldestWaiting(
  deps: Pick<Deps, "database">,
  tenant: string,
  queues: readonly string[],
): Promise<Map<string, Date>> {
  if (queues.length === 0) return new Map();
  const params = [tenant, textArray(queues)];
  const rows = await executeOn(deps.database)<{ queue: string; oldest: Date }>({ text, params });
  return new Map(rows.map(({ queue, oldest }) => [queue, oldest]));
}

const text = composed(
  "queues/oldest-waiting",
  ["tenant", "queues"],
  `
  WITH wanted AS MATERIALIZED (SELECT unnest($2::text[]) AS queue), due AS MATERIALIZED (
    SELECT tenant, queue, created_at FROM atlasqueue.jobs WHERE due_at IS NOT NULL ORDER BY due_at LIMIT ${due_jobs_max}
  )
  SELECT queue, min(created_at) AS oldest FROM (
    SELECT due.queue, created_at FROM due JOIN wanted ON wanted.queue = due.queue WHERE tenant = $1
    UNION ALL
    SELECT wanted.queue, ready.created_at FROM wanted, LATERAL (
      SELECT created_at FROM atlasqueue.jobs
      WHERE tenant = $1 AND jobs.queue = wanted.queue AND ready_at IS NOT NULL
      ORDER BY priority DESC, ready_at, id LIMIT ${line_jobs_max}
    ) AS ready
    UNION ALL
    SELECT wanted.queue, blocked.created_at FROM wanted, LATERAL (
      SELECT created_at FROM atlasqueue.jobs
      WHERE tenant = $1 AND jobs.queue = wanted.queue AND group_seq IS NOT NULL
      ORDER BY group_key, group_seq LIMIT ${line_jobs_max}
    ) AS blocked
  ) AS waiting GROUP BY queue`,
);
