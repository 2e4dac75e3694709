import { composed } from "../database/composed.ts";
import { replicated } from "../database/replicated.ts";
import { executeOn } from "../database/statement.ts";
import type { JobRow } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import type { Lease } from "../lease/lease.ts";
import { leaseInput, leaseParams, leaseParameters } from "../lease/fence.ts";

/** The state of a job that was settled under one of the given leases, or is still running under it. */
export type SettledJob = Pick<JobRow, "id" | "status" | "run_at" | "dead_reason" | "has_children">;

/**
 * Of the jobs whose settlement was refused, those settled under these very leases: the first answer was lost, and its
 * repetition must say the same. One still running was skipped, as its row is locked. A job keeps its token until it is
 * claimed again, so one that failed and has since become ready is recognized too; recovery and release take the token
 * away. A separate statement, as the refused one's snapshot may be older than the first settlement's commit.
 */
export async function settledBefore(
  deps: Pick<Deps, "database">,
  leases: readonly Lease[],
): Promise<Map<string, SettledJob>> {
  if (leases.length === 0) return new Map();
  const rows = await executeOn(deps.database)<SettledJob>({ text: find, params: leaseParams(leases) });
  return new Map(rows.map((row) => [row.id, row]));
}

const find = composed(
  "settle/settled-before",
  [...leaseParameters],
  `
  SELECT jobs.id, status, run_at, dead_reason, has_children, ${replicated} FROM ${leaseInput} JOIN atlasqueue.jobs ON jobs.id = input.id
  WHERE lease_token = ($3::uuid[])[input.token]`,
);
