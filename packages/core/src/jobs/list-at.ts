import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { countJobs } from "../counts/total.ts";
import type { Deps } from "../deps.ts";
import { listJobs } from "./list.ts";
import type { PageRow } from "./page-row.ts";

export type JobsFilter = { queue?: string | undefined; statuses?: readonly JobStatus[] | undefined };
/** `ms_max`: how long it may look for them. Default 3,000. */
export type JobsAt = { limit: number; offset: number; ms_max?: number };

/** A page ends after this: a caller without a cursor cannot go on where it stopped. */
const look_ms_max = 3_000;

/**
 * A tenant's jobs, newest first, from an offset, and how many the filter matches in total. For callers that cannot keep
 * a cursor: skipping costs as much as looking, and new jobs push the others down; `listJobs` has neither flaw. The total
 * is exact. The page may be short, where matches are rare and no index has them. One of large jobs ends at its bytes
 * (`page_bytes_max`): what is left begins at the offset plus the number of its jobs.
 *
 * @example
 * const { rows, total } = await listJobsAt(deps, "default", { statuses: ["dead"] }, { limit: 50, offset: 100 });
 */
export async function listJobsAt(
  deps: Pick<Deps, "database">,
  tenant: string,
  { queue, statuses = jobStatuses }: JobsFilter,
  { limit, offset, ms_max = look_ms_max }: JobsAt,
): Promise<{ rows: PageRow[]; total: number }> {
  const counts = await countJobs(deps, tenant, { queue });
  const total = statuses.reduce((sum, status) => sum + counts[status], 0);
  // A page that has all there are is full, and looks no further.
  const jobs_max = Math.min(limit, total - offset);
  if (jobs_max <= 0) return { rows: [], total };
  const filter = { queue, statuses: statuses.filter((status) => counts[status] > 0) };
  const { rows } = await listJobs(deps, tenant, filter, jobs_max, undefined, { skip: offset, ms_max });
  return { rows, total };
}
