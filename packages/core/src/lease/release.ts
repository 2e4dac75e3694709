import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { aboutLease, type Returnable } from "./lease.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { holdsLease, leaseParams, leaseParameters } from "./fence.ts";
import { isFree, lockFree } from "../database/clauses.ts";

/**
 * `given` went back: signal those again. `locked` are still held, as another transaction has their rows locked: repeat
 * it.
 */
export type Released<Held> = { given: Held[]; locked: Held[] };

/**
 * running → queued, with the attempt given back: for a worker that is shutting down, or took a job it cannot start. With
 * `later` running → scheduled, for as long as the job has been ready (1 to 30 s, so it doubles each time): for a worker
 * without a handler for its type. The job keeps its place by age. Leases no longer held are in neither list.
 *
 * @example
 * const { given } = await release(deps, leases);
 */
export async function release<Held extends Returnable>(
  deps: Deps,
  leases: readonly Held[],
  { later = false } = {},
): Promise<Released<Held>> {
  if (leases.length === 0) return { given: [], locked: [] };
  const rows = await executeOn(deps.database)<{ id: string; given: boolean }>({
    text: releaseText,
    params: [...leaseParams(leases), String(later)],
  });
  const found = new Map(rows.map(({ id, given }) => [id, given]));
  const given = leases.filter(({ id }) => found.get(id) === true);
  for (const lease of given) deps.observe({ event: "job_released", ...aboutLease(lease) });
  return { given, locked: leases.filter(({ id }) => found.get(id) === false) };
}

// `run_at` stays, and gives the job its place when it is promoted.
const releaseText = composed(
  "lease/release",
  [...leaseParameters, "later"],
  `
  WITH held AS MATERIALIZED (SELECT jobs.id FROM atlasqueue.jobs WHERE ${holdsLease}), ${lockFree("held")}, given AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN $4::text::bool THEN 'scheduled' ELSE 'queued' END,
                    ready_at = CASE WHEN NOT $4::text::bool THEN run_at END,
                    due_at = CASE WHEN $4::text::bool THEN now() + least(greatest(now() - run_at, '1 second'), '30 seconds') END,
                    attempts = attempts - 1, lease_token = NULL, locked_until = NULL, worker_id = NULL, updated_at = now()
    WHERE ${isFree} AND ${holdsLease}
    RETURNING jobs.id, tenant, queue, 'running' AS from_status, status AS to_status
  ), ${countMixedMoves("given")}
  SELECT held.id, given.id IS NOT NULL AS given FROM held LEFT JOIN given ON given.id = held.id`,
);
