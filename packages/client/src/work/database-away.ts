import { outage_hold_ms } from "@atlasqueue/contract";
import type { HeldJob } from "./held-jobs.ts";

/**
 * What the API has said of its database holds these jobs for a while, as a renewal would, even beyond the end of their
 * leases. When it falls silent, or somebody else answers in its place, that time runs out.
 *
 * @example
 * if (isDatabaseAway(error)) holdOn([job]);
 */
export function holdOn(jobs: readonly HeldJob[]): void {
  const until_ms = performance.now() + outage_hold_ms;
  for (const job of jobs) job.ends_at_ms = Math.max(job.ends_at_ms, until_ms);
}
