import { composed } from "../database/composed.ts";
import { replicated } from "../database/replicated.ts";
import { executeOn } from "../database/statement.ts";
import type { JobRow } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import type { Lease } from "../lease/lease.ts";
import { leaseInput, leaseParams, leaseParameters } from "../lease/fence.ts";

/** How a job stands that was settled under one of the given leases, or that still runs under it. */
export type SettledJob = Pick<JobRow, "id" | "status" | "run_at" | "dead_reason">;

/**
 * The jobs, of those whose settlement was refused, that were settled under these very leases: the first answer was lost
 * on the way, and its repetition must say the same. One that is running still was passed over, as its row is locked. A job keeps its token until it is claimed again, so one that failed
 * and has become ready since is known as well; recovery and release take the token away. A statement of its own, as the
 * refused one's snapshot may be older than the first settlement's commit.
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
  SELECT jobs.id, status, run_at, dead_reason, ${replicated} FROM ${leaseInput} JOIN jobs ON jobs.id = input.id
  WHERE lease_token = ($3::uuid[])[input.token]`,
);
