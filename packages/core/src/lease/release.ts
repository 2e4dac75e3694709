import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { aboutLease, type Returnable } from "./lease.ts";
import { countMoves } from "../counts/changes.ts";
import { holdsLease, leaseParams, leaseParameters } from "./fence.ts";
import { isFree, lockFree } from "../database/skip-locked.ts";

/**
 * `given` went back: signal those again. `locked` are still held, as another transaction has their rows locked: repeat
 * it.
 */
export type Released<Held> = { given: Held[]; locked: Held[] };

/**
 * running → queued, with the attempt given back: for a worker that is shutting down, or took a job it cannot start. The
 * job keeps its place by age. Leases no longer held are in neither list.
 *
 * @example
 * const { given } = await release(deps, leases);
 */
export async function release<Held extends Returnable>(deps: Deps, leases: readonly Held[]): Promise<Released<Held>> {
  if (leases.length === 0) return { given: [], locked: [] };
  const rows = await executeOn(deps.database)<{ id: string; given: boolean }>({
    text: giveBack,
    params: leaseParams(leases),
  });
  const found = new Map(rows.map(({ id, given }) => [id, given]));
  const given = leases.filter(({ id }) => found.get(id) === true);
  for (const lease of given) deps.observe({ event: "job_released", ...aboutLease(lease) });
  return { given, locked: leases.filter(({ id }) => found.get(id) === false) };
}

/** What giving a lease back makes of the job. */
export const asQueued = `status = 'queued', ready_at = run_at, attempts = attempts - 1, lease_token = NULL, locked_until = NULL,
                    worker_id = NULL, updated_at = now()`;

const giveBack = composed(
  "lease/release",
  [...leaseParameters],
  `
  WITH held AS MATERIALIZED (SELECT jobs.id FROM atlasqueue.jobs WHERE ${holdsLease}), ${lockFree("held")}, given AS (
    UPDATE atlasqueue.jobs SET ${asQueued} WHERE ${isFree} AND ${holdsLease}
    RETURNING jobs.id, tenant, queue
  ), ${countMoves("given", "running", "queued")}
  SELECT held.id, given.id IS NOT NULL AS given FROM held LEFT JOIN given ON given.id = held.id`,
);
