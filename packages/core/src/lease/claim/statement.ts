import { composed } from "../../database/composed.ts";
import { textArray } from "../../database/literals.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { hasMark } from "../../limits/room.ts";
import { leaseEvent, type Claimer, type Lease } from "../lease.ts";
import { underToken } from "./under-token.ts";
import { leaseTerms, readTrace, syncedForGroups, takeLeases, type LeaseRow, type Width } from "../take-leases.ts";

/** Send a claim, as `underToken` does. */
export async function claimWith<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  text: string,
  which: string | number,
): Promise<L[]> {
  const { tenant, worker_id, lease_seconds } = claimer;
  return underToken(claimer, async (lease_token) => {
    const params = [lease_token, worker_id, lease_seconds, tenant, textArray(claimer.queues), which];
    const leases = [...(await executeOn(deps.database)<L>({ text, params }))];
    for (const lease of leases as LeaseRow[]) {
      readTrace(lease);
      lease.tenant = tenant;
      lease.lease_token = lease_token;
      lease.worker_id = worker_id;
    }
    return reportTaken(deps, claimer, leases);
  });
}

/** What a further claim has taken, beside what there is already. */
export async function addTo<L extends Lease>(
  deps: Deps,
  claimer: Claimer,
  leases: L[],
  claiming: () => Promise<L[]>,
): Promise<void> {
  // A token leases once, and if a further claim's answer were lost, all would go back by it.
  if (leases.length > 0 && claimer.lease_token !== undefined) return;
  try {
    leases.push(...(await claiming()));
  } catch (error) {
    // Those already leased must not be lost with it.
    if (leases.length === 0) throw error;
    deps.observe({ event: "database_unavailable", during: "claim", error: String(error) });
  }
}

/** Tell of leases, and return them. */
export function reportTaken<L extends Lease>(deps: Deps, claimer: Claimer, leases: L[]): L[] {
  claimer.size?.note(leases);
  for (const one of leases) deps.observe(leaseEvent("lease_acquired", one));
  return leases;
}

/**
 * The queues of $5 that are not paused, and whose jobs are claimed one by one. Depends on no row, so PostgreSQL evaluates it
 * once per statement.
 */
export const served = `ARRAY(
  SELECT queue FROM unnest($5::text[]) AS wanted(queue)
  WHERE NOT EXISTS (
    SELECT FROM atlasqueue.queues WHERE tenant = $4 AND queues.queue = wanted.queue AND (paused_at IS NOT NULL OR ${hasMark})))`;

/** A claim by width: what it leases is chosen by `which`, and `last` says what $6 is. */
export const claimTexts = (name: string, last: "ids" | "jobs_max", which: string) => {
  const text = (width: Width) =>
    composed(
      `lease/${name}-${width}`,
      [...leaseTerms, "queues", last],
      `WITH ${takeLeases(which, width)} SELECT * FROM leased WHERE ${syncedForGroups}`,
    );
  return { lease: text("lease"), whole: text("whole") };
};
