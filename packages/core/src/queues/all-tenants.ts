import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { isLimited, hasMark } from "../limits/capacity.ts";

/**
 * Since when the job that waits longest in a queue has been ready, as a sub-select. It steps from one priority in use to
 * the next: the index has the oldest job of each in front, and min(ready_at) would read the whole backlog.
 */
export const readySince = (tenant: string, queue: string) => {
  const front = (below: string) => `
        (SELECT priority, ready_at FROM atlasqueue.jobs
         WHERE jobs.tenant = ${tenant} AND jobs.queue = ${queue} AND ready_at IS NOT NULL${below}
         ORDER BY priority DESC, ready_at LIMIT 1)`;
  return `(
      WITH RECURSIVE fronts AS (${front("")}
        UNION ALL
        SELECT next.priority, next.ready_at FROM fronts, LATERAL ${front(" AND priority < fronts.priority")} AS next
      ) SELECT min(ready_at) FROM fronts)`;
};

/** How long the longest-waiting job in a queue has been ready; `limited`: the queue's limits may be holding it. */
export type OldestReady = QueueRef & { limited: boolean; ready_ms: number };

/**
 * The longest wait of ready jobs in each queue (0 in a paused one), for a number of queues of all tenants. Steps from
 * queue to queue, so that no backlog is read; backwards, to land on each queue's newest job rather than on the entries of
 * claimed ones.
 *
 * @example
 * const longest_ms = Math.max(...(await oldestReady(deps, 200)).map(({ ready_ms }) => ready_ms));
 */
export function oldestReady(deps: Pick<Deps, "database">, queues_max: number): Promise<readonly OldestReady[]> {
  return executeOn(deps.database)<OldestReady>({ text, params: [queues_max] });
}

const text = composed(
  "queues/oldest-ready",
  ["queues_max"],
  `
  WITH RECURSIVE found AS (
    (SELECT tenant, queue FROM atlasqueue.jobs WHERE ready_at IS NOT NULL ORDER BY tenant DESC, queue DESC LIMIT 1)
    UNION ALL
    SELECT next.tenant, next.queue FROM found, LATERAL (
      SELECT tenant, queue FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND (tenant, queue) < (found.tenant, found.queue)
      ORDER BY tenant DESC, queue DESC LIMIT 1) AS next
  ), page AS MATERIALIZED (SELECT tenant, queue FROM found LIMIT $1::int)
  SELECT page.tenant, page.queue, coalesce(${isLimited}, false) AS limited,
         CASE WHEN paused_at IS NULL THEN greatest(0, extract(epoch FROM now() - ${readySince("page.tenant", "page.queue")}) * 1000)
              ELSE 0 END::float8 AS ready_ms
  FROM page LEFT JOIN atlasqueue.queues ON queues.tenant = page.tenant AND queues.queue = page.queue
  ORDER BY page.tenant DESC, page.queue DESC`,
);

/**
 * Counts of one queue, for those looking after all tenants. `held`: paused or limited, so that not every ready job may
 * start.
 */
export type QueueDepth = QueueRef & { queued: number; running: number; dead: number; held: boolean };

/**
 * All tenants' queues with jobs waiting, running or dead, by the kept counts.
 *
 * @example
 * const dead = (await queueDepths(deps, 10_000)).reduce((sum, queue) => sum + queue.dead, 0);
 */
export async function queueDepths(deps: Pick<Deps, "database">, queues_max: number): Promise<readonly QueueDepth[]> {
  return executeOn(deps.database)<QueueDepth>({ text: depths, params: [queues_max] });
}

const depths = `
  SELECT tenant, queue, sum(queued)::float8 AS queued, sum(running)::float8 AS running, sum(dead)::float8 AS dead,
         EXISTS (SELECT FROM atlasqueue.queues WHERE queues.tenant = known.tenant AND queues.queue = known.queue
                   AND (paused_at IS NOT NULL OR ${hasMark})) AS held
  FROM (SELECT tenant, queue, queued, running, dead FROM atlasqueue.queue_counts
        UNION ALL SELECT tenant, queue, queued, running, dead FROM atlasqueue.queue_changes) AS known
  GROUP BY tenant, queue
  HAVING sum(queued) <> 0 OR sum(running) <> 0 OR sum(dead) <> 0
  ORDER BY tenant, queue LIMIT $1::int`;
