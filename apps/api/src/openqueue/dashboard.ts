import { openQueueQueues, type OpenQueueQueues, type OpenQueueStatus } from "@atlasqueue/contract";
import { oldestWaiting, queueStats, type QueueStats } from "@atlasqueue/core/internal/http";
import { exampleJob } from "../route/examples.ts";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { statusesOf } from "./words.ts";

const exampleStats: OpenQueueQueues[number] = {
  queue_name: "mails",
  pending: 16,
  processing: 4,
  completed: 1_530,
  failed: 1,
  cancelled: 0,
  dead: 2,
  total: 1_552,
  oldest_pending_created_at: exampleJob.created_at,
};

export const dashboard = route(
  {
    at: "GET /dashboard/queues",
    id: "openQueueListQueues",
    tag: "OpenQueue",
    summary: "List the queues",
    description: "`failed` says how many of the `pending` are waiting for a retry; `total` counts each job once.",
    scope: "read",
    answers: ok("Every queue that has had a job, or was paused.", openQueueQueues, [exampleStats]),
  },
  async ({ deps, tenant }) => {
    const stats = await queueStats(deps, tenant);
    const waiting = stats.filter((one) => inWord(one, "pending") > 0).map(({ queue }) => queue);
    const oldest = await oldestWaiting(deps, tenant, waiting);
    return stats.map((one) => showStats(one, oldest.get(one.queue)));
  },
);

/**
 * `failed` are the pending ones waiting for a retry: they are in `pending` too, as everywhere on this surface, and
 * `total` counts each job once.
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
    total: Object.values(stats.counts).reduce((sum, count) => sum + count),
    oldest_pending_created_at: earliest(oldest, stats.oldest_queued_at)?.toISOString() ?? null,
  };
}

/** A job waiting behind many of higher priority is judged by when it became ready: for most, when it was made. */
function earliest(created: Date | undefined, ready: Date | null): Date | undefined {
  return created && ready && ready < created ? ready : created;
}

function inWord({ counts }: QueueStats, word: OpenQueueStatus): number {
  return statusesOf(word).reduce((sum, status) => sum + counts[status], 0);
}
