import { composed } from "../database/composed.ts";
import type { Json } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";
import type { Lease } from "./lease.ts";
import { byJob, holdsLease, leaseParams, leaseParameters, ofJob } from "./fence.ts";

export type Report = { lease: Lease; progress: Json };

/**
 * running → running, with the progress of the jobs, all in one statement. A report under a lost lease changes nothing.
 * A hint, so it does not wait for the disk.
 *
 * @example
 * await reportProgress(deps, [{ lease, progress: { done: 0.4, note: "4 of 10" } }]);
 */
export async function reportProgress(deps: Deps, reports: readonly Report[]): Promise<void> {
  if (reports.length === 0) return;
  const leases = reports.map(({ lease }) => lease);
  const params = [...leaseParams(leases), byJob(leases, (at) => reports[at]?.progress)];
  await executeOn(deps.database)({ text, params });
}

const text = composed(
  "lease/report-progress",
  [...leaseParameters, "progress"],
  `
  UPDATE jobs SET progress = ${ofJob("$4")}::json
  WHERE ${holdsLease} AND ${unsynced}`,
);
