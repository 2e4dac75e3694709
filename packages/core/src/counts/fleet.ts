import { composed } from "../database/composed.ts";
import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/**
 * How many jobs of each status all tenants have, by the counts the moves keep: no job is read.
 *
 * @example
 * const { queued, dead } = await fleetCounts(deps);
 */
export async function fleetCounts(deps: Pick<Deps, "database">): Promise<Record<JobStatus, number>> {
  const [counts] = await executeOn(deps.database)<Record<JobStatus, number>>({ text, params: [] });
  if (!counts) throw new Error("an aggregate gave no row");
  return counts;
}

const columns = jobStatuses.join(", ");

// Both in one snapshot, so that a concurrent fold is seen whole or not at all.
const text = composed(
  "counts/fleet",
  [],
  `
  SELECT ${jobStatuses.map((status) => `coalesce(sum(${status}), 0)::float8 AS ${status}`).join(", ")}
  FROM (SELECT queue, ${columns} FROM atlasqueue.queue_counts UNION ALL SELECT queue, ${columns} FROM atlasqueue.queue_changes) AS known`,
);
