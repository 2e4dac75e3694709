import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { aboutLease, type Lease } from "./claim.ts";
import { countMoves } from "./count-changes.ts";
import { holdsLease, leaseParams } from "./lease-rows.ts";

/**
 * running → queued, with the attempt given back: for a worker that shuts down, or that took a job and cannot start it.
 * The job keeps its place by age. Returns the leases that were still held; signal those again.
 *
 * @example
 * const released = await release(deps, leases);
 */
export async function release(deps: Deps, leases: Lease[]): Promise<Lease[]> {
  if (leases.length === 0) return [];
  const released = await executeOn(deps.database)<{ id: string }>({ text: giveBack, params: leaseParams(leases) });
  const ids = new Set(released.map((row) => row.id));
  const given = leases.filter((lease) => ids.has(lease.id));
  for (const lease of given) deps.observe({ event: "job_released", ...aboutLease(lease) });
  return given;
}

const giveBack = `
  WITH given AS (
    UPDATE jobs SET status = 'queued', ready_at = run_at, attempts = attempts - 1, lease_token = NULL, locked_until = NULL,
                    worker_id = NULL, updated_at = now()
    WHERE ${holdsLease}
    RETURNING jobs.id, tenant, queue
  ), ${countMoves("given", "running", "queued")}
  SELECT id FROM given`;
