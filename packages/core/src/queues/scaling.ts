import type { QueueScaling } from "@atlasqueue/contract";
import type { Deps, QueueRef } from "../deps.ts";
import type { Signal } from "../signal/signal.ts";
import { announcedWorkers, servingOf } from "./workers.ts";
import { queueStats, type QueueStats } from "./stats.ts";

/**
 * What an autoscaler needs to know of a queue, from counts that are kept: as fast with millions of jobs as with none.
 * A queue that does not exist yet is one with nothing to do. `workers` and `slots` are null while Redis is away.
 *
 * @example
 * const { backlog, oldest_ready_seconds } = await queueScaling(deps, { tenant: "default", queue: "mail" });
 */
export async function queueScaling(
  deps: Pick<Deps, "database"> & { signal: Signal },
  { tenant, queue }: QueueRef,
): Promise<QueueScaling> {
  const [[stats], announced] = await Promise.all([
    queueStats(deps, tenant, { queue }),
    announcedWorkers(deps.signal, tenant),
  ]);
  const workers = servingOf(announced, queue);
  const ready = stats?.counts.queued ?? 0;
  const running = stats?.counts.running ?? 0;
  const startable = stats ? Math.min(ready, roomIn(stats)) : 0;
  const since = startable > 0 ? stats?.oldest_queued_at : undefined;
  return {
    queue,
    ready,
    running,
    backlog: running + startable,
    oldest_ready_seconds: stats && since ? Math.max(0, stats.seen_at.getTime() - since.getTime()) / 1_000 : 0,
    workers: workers?.length ?? null,
    slots: workers?.reduce((sum, { concurrency }) => sum + concurrency, 0) ?? null,
  };
}

/** How many more jobs its pause and its limits let start now: beyond that, no worker would be of use. */
function roomIn({ paused_at, counts, limits: { concurrency, rate }, starts }: QueueStats): number {
  if (paused_at !== null) return 0;
  const left = (limit: number | undefined, used: number) => Math.max(0, (limit ?? Infinity) - used);
  return Math.min(left(concurrency ?? undefined, counts.running), left(rate?.limit, starts ?? 0));
}
