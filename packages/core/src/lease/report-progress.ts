import { composed } from "../database/composed.ts";
import type { Json } from "@atlasqueue/contract";
import { isFree, lockFree, asyncCommit } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { Lease } from "./lease.ts";
import { byJob, holdsLease, leaseParams, leaseParameters, ofJob } from "./fence.ts";

export type Report = { lease: Lease; progress: Json };

/**
 * running → running, with the progress of the jobs, all in one statement. A report under a lost lease changes nothing.
 * Resolves with those whose rows another transaction has locked: report them again soon. A hint, so it does not wait for
 * the disk.
 *
 * @example
 * const locked = await reportProgress(deps, [{ lease, progress: { done: 0.4, note: "4 of 10" } }]);
 */
export async function reportProgress<R extends Report>(deps: Deps, reports: readonly R[]): Promise<R[]> {
  if (reports.length === 0) return [];
  const leases = reports.map(({ lease }) => lease);
  const params = [...leaseParams(leases), byJob(leases, (at) => reports[at]?.progress)];
  const rows = await executeOn(deps.database)<{ id: string }>({ text, params });
  if (rows.length === 0) return [];
  const locked = new Set(rows.map(({ id }) => id));
  return reports.filter(({ lease }) => locked.has(lease.id));
}

const text = composed(
  "lease/report-progress",
  [...leaseParameters, "progress"],
  `
  WITH held AS MATERIALIZED (SELECT jobs.id FROM atlasqueue.jobs WHERE ${holdsLease}), ${lockFree("held")}, reported AS (
    UPDATE atlasqueue.jobs SET progress = ${ofJob("$4")}::json
    WHERE ${isFree} AND ${holdsLease} AND ${asyncCommit}
  )
  SELECT id FROM held WHERE id NOT IN (SELECT id FROM free)`,
);
