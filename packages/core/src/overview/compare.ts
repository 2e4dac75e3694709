import { countDrift } from "../counts/drift.ts";
import { fleetCounts } from "../counts/total.ts";
import type { Deps } from "../deps.ts";

/** With more it takes too long to do it every minute or so. */
const compared_jobs_max = 20_000;

/**
 * The tenants some of whose kept counts are not those of their jobs; undefined if there are too many to compare.
 * Comparing reads every job: the kept counts, which cost a row for each queue, say first whether there are more than
 * `jobs_max`, and then none is read.
 *
 * @example
 * const drifting = await driftingTenants(deps);
 */
export async function driftingTenants(
  deps: Pick<Deps, "database">,
  jobs_max: number = compared_jobs_max,
): Promise<ReadonlySet<string> | undefined> {
  const kept = Object.values(await fleetCounts(deps)).reduce((sum, count) => sum + count, 0);
  if (kept > jobs_max) return undefined;
  const { jobs, tenants } = await countDrift(deps, jobs_max);
  // Then the kept counts were far too low to say so, and nothing was compared.
  return jobs > jobs_max ? undefined : new Set(tenants);
}
