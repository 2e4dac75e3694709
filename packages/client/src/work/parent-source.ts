import type { ParentSource } from "@atlasqueue/contract";
import type { JobCalls } from "../resources/jobs.ts";
import type { Observe } from "./events.ts";
import type { HeldJob } from "./held-jobs.ts";
import { patiently } from "./patiently.ts";

/** Where a remote handler asks for its job's parents: what came with the lease, and the API for the rest. */
export function remoteParents(
  { calls, observe }: { calls: Pick<JobCalls, "parents">; observe: Observe },
  held: HeldJob,
): ParentSource {
  const { job, parents, parent_counts, parents_complete } = held.leased;
  const { signal } = held.stop;
  return {
    first: async () =>
      parents && parent_counts && { parents, parent_counts, parents_complete: parents_complete ?? false },
    page: (cursor) =>
      patiently({ observe }, held, "parents", () =>
        calls.parents(job.id, cursor === undefined ? {} : { cursor }, { signal, retries: 0 }),
      ),
  };
}
