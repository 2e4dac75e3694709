import type { Signal } from "@atlasqueue/core";
import {
  createFinishedWaits,
  createFollowUps,
  createLiveEvents,
  createLongPoll,
  createOverview,
  createQueueBound,
  createStorageQuota,
  createSubmitter,
  type Deps,
  type EnqueueOptions,
} from "@atlasqueue/core/internal";
import { createUnderWay } from "./http/under-way.ts";
import { createJobStreams } from "./jobs/stream/open-streams.ts";

/** What lives as long as the API and is shared by requests: group commits, long polls, timers. */
export function createServices(
  deps: Deps & { signal: Signal },
  options: EnqueueOptions & { queues_per_tenant_max: number; stored_bytes_per_tenant_max: number },
) {
  const followUps = createFollowUps(deps);
  return {
    followUps,
    submitter: createSubmitter({ ...deps, followUps }, options),
    longPoll: createLongPoll({ ...deps, followUps }),
    finishedWaits: createFinishedWaits(deps),
    jobStreams: createJobStreams(),
    underWay: createUnderWay(),
    liveEvents: createLiveEvents(deps),
    overviewOf: createOverview(deps),
    queueBound: createQueueBound(deps, options),
    storageQuota: createStorageQuota(deps, options),
  };
}
