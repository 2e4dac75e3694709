import { composed } from "../database/composed.ts";
import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

type Counts = Record<JobStatus, number>;
/** After every possible name. */
const last = "\u{10FFFF}";

/**
 * How many jobs of each status a tenant has, or all of them together, in all queues or in one. Exact, and as fast with
 * millions of jobs as with none: nothing is counted; the totals that the moves keep are added up (`changes.ts`).
 *
 * @example
 * const { queued, running } = await countJobs(deps, "default", { queue: "mail" });
 */
export async function countJobs(
  deps: Pick<Deps, "database">,
  tenant: string | undefined,
  { queue }: { queue?: string | undefined } = {},
): Promise<Counts> {
  const params = [tenant ?? "", tenant ?? last, queue ?? ""];
  const [counts] = await executeOn(deps.database)<Counts>({ text, params });
  if (!counts) throw new Error("an aggregate gave no row");
  return counts;
}

const columns = jobStatuses.join(", ");
const sums = jobStatuses.map((status) => `coalesce(sum(${status}), 0)::float8 AS ${status}`).join(", ");
const mine = "tenant BETWEEN $1 AND $2 AND ($3 = '' OR queue = $3)";

// Both in one snapshot, so that a concurrent fold is seen whole or not at all.
const text = composed(
  "counts/total",
  ["first_tenant", "last_tenant", "queue"],
  `
  SELECT ${sums}
  FROM (SELECT ${columns} FROM atlasqueue.queue_counts WHERE ${mine} UNION ALL SELECT ${columns} FROM atlasqueue.queue_changes WHERE ${mine}) AS known`,
);
