import type { Signal } from "@atlasqueue/core";
import { createFollowUps, type Deps } from "@atlasqueue/core/internal";
import {
  createFinishedWaits,
  createLiveEvents,
  createLongPoll,
  createOverview,
  createQueueBound,
  createStorageQuota,
  createSubmitter,
  withinHeap,
  type EnqueueOptions,
} from "@atlasqueue/core/internal/http";
import { connection_bytes } from "@atlasqueue/program/server-limits";
import { createUnderWay } from "./http/under-way.ts";
import { createJobStreams } from "./jobs/stream/open-streams.ts";

/** Each keeps a connection, and an address that tenants share, such as a load balancer's, has three quarters of those. */
const waiters_max = withinHeap(10_000, { part: 10, bytes_each: connection_bytes });

export type SharedServices = ReturnType<typeof createServices>;

/** What lives as long as the API and is shared by requests: group commits, long polls, timers. */
export function createServices(
  deps: Deps & { signal: Signal },
  options: EnqueueOptions & { queues_per_tenant_max: number; stored_bytes_per_tenant_max: number },
) {
  const followUps = createFollowUps(deps);
  return {
    followUps,
    submitter: createSubmitter({ ...deps, followUps }, options),
    longPoll: createLongPoll({ ...deps, followUps }, waiters_max),
    finishedWaits: createFinishedWaits(deps, waiters_max),
    jobStreams: createJobStreams(),
    /** Requests that are not answered yet, and what goes on behind an answer. */
    underWay: createUnderWay(),
    liveEvents: createLiveEvents(deps),
    overviewOf: createOverview(deps),
    queueBound: createQueueBound(deps, options),
    storageQuota: createStorageQuota(deps, options),
  };
}
