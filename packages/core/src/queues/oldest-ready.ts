import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { isLimited } from "../limits/room.ts";
import { top } from "./ready-queues.ts";

/** How long the longest-waiting job in a queue has been ready; `limited`: the queue's limits may be holding it. */
export type OldestReady = QueueRef & { limited: boolean; ready_ms: number };

/**
 * The longest wait of ready jobs in each queue (0 in a paused one), for a number of queues of all tenants, after the
 * `behind` of an earlier answer. Fewer than asked for means that those were the last. Steps from queue to queue, and
 * within each from one priority in use to the next, so that no backlog is read; backwards, to land on each queue's
 * newest job rather than on the entries of claimed ones.
 *
 * @example
 * const first = await oldestReady(deps, 200);
 * const next = await oldestReady(deps, 200, first.at(-1));
 */
export async function oldestReady(
  deps: Pick<Deps, "database">,
  queues_max: number,
  behind?: QueueRef,
): Promise<readonly OldestReady[]> {
  const params = [queues_max, behind?.tenant ?? top, behind?.queue ?? top];
  return executeOn(deps.database)<OldestReady>({ text, params });
}

const text = composed(
  "queues/oldest-ready",
  ["queues_max", "tenant", "queue"],
  `
  WITH RECURSIVE found AS (
    (SELECT tenant, queue FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND (tenant, queue) < ($2, $3) ORDER BY tenant DESC, queue DESC LIMIT 1)
    UNION ALL
    SELECT next.tenant, next.queue FROM found, LATERAL (
      SELECT tenant, queue FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND (tenant, queue) < (found.tenant, found.queue)
      ORDER BY tenant DESC, queue DESC LIMIT 1) AS next
  ), page AS MATERIALIZED (SELECT tenant, queue FROM found LIMIT $1::int)
  SELECT page.tenant, page.queue, coalesce(${isLimited}, false) AS limited,
         CASE WHEN paused_at IS NULL THEN greatest(0, extract(epoch FROM now() - (
           WITH RECURSIVE fronts AS (
             (SELECT priority, ready_at FROM atlasqueue.jobs
              WHERE jobs.tenant = page.tenant AND jobs.queue = page.queue AND ready_at IS NOT NULL
              ORDER BY priority DESC, ready_at LIMIT 1)
             UNION ALL
             SELECT next.priority, next.ready_at FROM fronts, LATERAL (
               SELECT priority, ready_at FROM atlasqueue.jobs
               WHERE jobs.tenant = page.tenant AND jobs.queue = page.queue AND ready_at IS NOT NULL
                 AND priority < fronts.priority
               ORDER BY priority DESC, ready_at LIMIT 1) AS next
           ) SELECT min(ready_at) FROM fronts)) * 1000) ELSE 0 END::float8 AS ready_ms
  FROM page LEFT JOIN atlasqueue.queues ON queues.tenant = page.tenant AND queues.queue = page.queue
  ORDER BY page.tenant DESC, page.queue DESC`,
);
