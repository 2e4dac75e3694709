import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { hasMark } from "../limits/capacity.ts";

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
