import {
  createClaimCleaner,
  createFinishWatch,
  createGroupAdvancer,
  createLeaseDesk,
  createPromoter,
  createRefiller,
  createSubmitter,
  type Deps,
  type EnqueueOptions,
  type Signal,
} from "@atlasqueue/core";

/** What lives as long as the API does and that requests share: submits in groups, waits in lines, timers. */
export function createServices(deps: Deps & { signal: Signal }, options: EnqueueOptions) {
  const refiller = createRefiller(deps);
  return {
    submitter: createSubmitter(deps, options),
    leaseDesk: createLeaseDesk({ ...deps, refiller }),
    refiller,
    finishWatch: createFinishWatch(deps),
    promoter: createPromoter(deps),
    claimCleaner: createClaimCleaner(deps),
    groups: createGroupAdvancer(deps),
  };
}
