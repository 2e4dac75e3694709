import type { ParentSource } from "@atlasqueue/contract";
import type { JobCalls } from "../resources/jobs.ts";
import type { LeasedJob } from "../resources/leases.ts";

/** Where a remote handler asks for its job's parents: what came with the lease, and the API for the rest. */
export function remoteParents(
  calls: Pick<JobCalls, "parents">,
  { job, parents, parent_counts, parents_complete }: LeasedJob,
  signal: AbortSignal,
): ParentSource {
  return {
    first: async () =>
      parents && parent_counts && { parents, parent_counts, parents_complete: parents_complete ?? false },
    page: (cursor) => calls.parents(job.id, cursor === undefined ? {} : { cursor }, { signal }),
  };
}
