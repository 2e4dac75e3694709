import type { Signal } from "@atlasqueue/core";
import { createFollowUps, type Deps, type FollowUps } from "@atlasqueue/core/internal";
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
  type FinishedWaits,
  type LiveEvents,
  type LongPoll,
  type OverviewReader,
  type QueueBound,
  type StorageQuota,
  type Submitter,
} from "@atlasqueue/core/internal/http";
import { connection_bytes } from "@atlasqueue/program/server-limits";
import { createUnderWay } from "./http/under-way.ts";
import { createJobStreams, type JobStreams } from "./jobs/stream/open-streams.ts";

/** Each keeps a connection, and an address that tenants share, such as a load balancer's, has three quarters of those. */
const waiters_max = withinHeap(10_000, { part: 10, bytes_each: connection_bytes });

export type SharedServices = {
  followUps: FollowUps;
  submitter: Submitter;
  longPoll: LongPoll;
  finishedWaits: FinishedWaits;
  jobStreams: JobStreams;
  /** Requests that are not answered yet, and what goes on behind an answer. */
  underWay: ReturnType<typeof createUnderWay>;
  liveEvents: LiveEvents;
  overviewOf: OverviewReader;
  queueBound: QueueBound;
  storageQuota: StorageQuota;
};

/** What lives as long as the API and is shared by requests: group commits, long polls, timers. */
export function createServices(
  deps: Deps & { signal: Signal },
  options: EnqueueOptions & { queues_per_tenant_max: number; stored_bytes_per_tenant_max: number },
): SharedServices {
  const followUps = createFollowUps(deps);
  return {
    followUps,
    submitter: createSubmitter({ ...deps, followUps }, options),
    longPoll: createLongPoll({ ...deps, followUps }, waiters_max),
    finishedWaits: createFinishedWaits(deps, waiters_max),
    jobStreams: createJobStreams(),
    underWay: createUnderWay(),
    liveEvents: createLiveEvents(deps),
    overviewOf: createOverview(deps),
    queueBound: createQueueBound(deps, options),
    storageQuota: createStorageQuota(deps, options),
  };
}
