import type { JobStatus, OpenQueueQueues, OpenQueueStatus } from "@atlasqueue/contract";
import { oldestWaiting, queueStats, type Deps, type QueueStats } from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerJson } from "../http/answers/answer.ts";
import type { ApiEnv } from "../http/context.ts";
import type { Gate } from "../http/gate.ts";
import { holderOf } from "../http/input/holder.ts";
import { refuseQuery } from "../http/input/query.ts";
import { tenantOf } from "../http/input/tenant.ts";
import { statusesOf } from "./words.ts";

/** OpenQueue's `GET /dashboard/queues`. */
export function openQueueDashboardRoutes(deps: Deps & { gate: Gate }): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get("/dashboard/queues", requires("read"), async (c) => {
    refuseQuery(c);
    const tenant = tenantOf(c);
    const queues = await deps.gate.hold(holderOf(c), 0, async () => {
      const stats = await queueStats(deps, tenant);
      const waiting = stats.filter((one) => inWord(one, "pending") > 0).map(({ queue }) => queue);
      const oldest = await oldestWaiting(deps, tenant, waiting);
      return stats.map((one) => showStats(one, oldest.get(one.queue)));
    });
    return answerJson(c, 200, queues satisfies OpenQueueQueues);
  });

  return routes;
}

/**
 * `failed` are the pending ones that wait for a retry: they are in `pending` too, as everywhere on this surface, and
 * `total` has each job once.
 */
function showStats(stats: QueueStats, oldest: Date | undefined): OpenQueueQueues[number] {
  return {
    queue_name: stats.queue,
    pending: inWord(stats, "pending"),
    processing: inWord(stats, "processing"),
    completed: inWord(stats, "completed"),
    failed: stats.counts.failed,
    cancelled: inWord(stats, "cancelled"),
    dead: inWord(stats, "dead"),
    total: sumOf(stats, Object.keys(stats.counts) as JobStatus[]),
    oldest_pending_created_at: earliest(oldest, stats.oldest_queued_at)?.toISOString() ?? null,
  };
}

/** A job that waits behind many of higher priority is seen by when it became ready: for most, when it was made. */
function earliest(created: Date | undefined, ready: Date | null): Date | undefined {
  return created && ready && ready < created ? ready : created;
}

function inWord(stats: QueueStats, word: OpenQueueStatus): number {
  return sumOf(stats, statusesOf(word));
}

function sumOf({ counts }: QueueStats, statuses: readonly JobStatus[]): number {
  return statuses.reduce((sum, status) => sum + counts[status], 0);
}
