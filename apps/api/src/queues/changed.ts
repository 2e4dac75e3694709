import { queueDefaults, queueName, type Queue } from "@atlasqueue/contract";
import type { QueueRef } from "@atlasqueue/core/internal";
import { afterSome, queueStats, type QueueStats } from "@atlasqueue/core/internal/http";
import { z } from "zod";
import type { Call } from "../route/call.ts";
import type { Stated } from "../route/operation.ts";

export const path = z.strictObject({ queue: queueName });

type AboutQueue = Pick<Call<Stated>, "deps" | "repeated"> & { tenant: string; path: { queue: string } };

/** Change a queue, unless that has been done under this key, and return its state. */
export async function changed(
  { deps, tenant, path: { queue }, repeated }: AboutQueue,
  apply: (ref: QueueRef) => Promise<unknown>,
): Promise<Queue> {
  if (!repeated) await apply({ tenant, queue });
  const [stats] = await queueStats(deps, tenant, { queue }).catch(afterSome(!repeated));
  return showQueue(stats ?? { ...nothing, queue });
}

/** A queue without jobs or settings. */
const nothing: Omit<QueueStats, "queue" | "seen_at"> = {
  paused_at: null,
  counts: { scheduled: 0, blocked: 0, queued: 0, running: 0, failed: 0, succeeded: 0, dead: 0, cancelled: 0 },
  limits: { concurrency: null, group_concurrency: null, rate: null, group_rate: null, fair_by: null },
  defaults: null,
  starts: null,
  oldest_queued_at: null,
};

export function showQueue({
  queue,
  paused_at,
  counts,
  limits,
  defaults,
  oldest_queued_at,
}: Omit<QueueStats, "seen_at">): Queue {
  return {
    queue,
    paused: paused_at !== null,
    counts,
    limits,
    defaults: queueDefaults.parse(defaults ?? {}),
    oldest_queued_at: oldest_queued_at?.toISOString() ?? null,
  };
}
