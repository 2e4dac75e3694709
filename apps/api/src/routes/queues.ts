import { queueLimits, type Queue, type QueueList } from "@atlasqueue/contract";
import type { Signal } from "@atlasqueue/core";
import {
  pauseQueue,
  queueStats,
  resumeQueue,
  setLimits,
  type Deps,
  type FollowUps,
  type QueueBound,
  type QueueRef,
  type QueueStats,
} from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerJson } from "../http/answers/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import type { Gate } from "../http/gate.ts";
import { holderOf } from "../http/input/holder.ts";
import { requireNoBody } from "../http/body/no-body.ts";
import { readQueueName } from "../http/input/params.ts";
import { refuseQuery } from "../http/input/query.ts";
import { readRequest } from "../http/body/request.ts";
import { tenantOf } from "../http/input/tenant.ts";

export type QueueRouteDeps = Deps & { signal: Signal; gate: Gate; followUps: FollowUps; queueBound: QueueBound };

const limits_body_bytes_max = 16_384;

/** `GET /queues`, and a queue's pause, resume and limits. A queue comes to be with its first job, so any name may be paused. */
export function queueRoutes(deps: QueueRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get("/queues", requires("read"), async (c) => {
    refuseQuery(c);
    const stats = await deps.gate.hold(holderOf(c), 0, () => queueStats(deps, tenantOf(c)));
    return answerJson(c, 200, { items: stats.map(showQueue) } satisfies QueueList);
  });

  /** Change a queue, and answer with it as it is then. */
  const change = async (c: ApiContext, queue: string, apply: (ref: QueueRef) => Promise<unknown>) => {
    const ref = { tenant: tenantOf(c), queue };
    const stats = await deps.gate.hold(holderOf(c), 0, async () => {
      await apply(ref);
      return queueStats(deps, ref.tenant, { queue });
    });
    return answerJson(c, 200, showQueue(stats[0] ?? { ...nothing, queue }));
  };

  routes.put("/queues/:queue/limits", requires("admin"), async (c) => {
    const queue = readQueueName(c);
    const { value } = await readRequest(c, queueLimits, { bytes_max: limits_body_bytes_max });
    return change(c, queue, async (ref) => {
      await deps.queueBound.admit(ref.tenant, [queue]);
      deps.followUps.limitsChanged(ref, await setLimits(deps, ref, value));
    });
  });

  /** For a change that the path says all of. */
  const decide = (apply: (ref: QueueRef) => Promise<unknown>) => async (c: ApiContext) => {
    refuseQuery(c);
    const queue = readQueueName(c);
    await requireNoBody(c);
    return change(c, queue, apply);
  };

  routes.post(
    "/queues/:queue/pause",
    requires("admin"),
    decide(async (ref) => {
      await deps.queueBound.admit(ref.tenant, [ref.queue]);
      return pauseQueue(deps, ref);
    }),
  );
  routes.post(
    "/queues/:queue/resume",
    requires("admin"),
    decide((ref) => resumeQueue(deps, ref)),
  );

  return routes;
}

/** A queue without jobs, about which nobody decided anything. */
const nothing: Omit<QueueStats, "queue"> = {
  paused_at: null,
  counts: { scheduled: 0, blocked: 0, queued: 0, running: 0, failed: 0, succeeded: 0, dead: 0, cancelled: 0 },
  limits: { concurrency: null, group_concurrency: null, rate: null, group_rate: null },
  oldest_queued_at: null,
};

function showQueue({ queue, paused_at, counts, limits, oldest_queued_at }: QueueStats): Queue {
  return {
    queue,
    paused: paused_at !== null,
    counts,
    limits,
    oldest_queued_at: oldest_queued_at?.toISOString() ?? null,
  };
}
