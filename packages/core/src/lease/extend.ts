import type { Json } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { unsyncedUnlessLate, isFree, lockFree } from "../database/clauses.ts";
import type { Deps } from "../deps.ts";
import type { Lease } from "./lease.ts";
import { byJob, holdsLease, leaseParams, leaseParameters, ofJob } from "./fence.ts";

/**
 * `lost` are no longer held, unless the caller settled them itself meanwhile, which only it knows. `locked` are held,
 * but another transaction has their rows locked: repeat it soon. The others hold until `locked_until`.
 */
export type Extended<L> = { lost: L[]; locked: L[]; locked_until: Date | undefined };

/** `progressOf`: what to store as the progress of a job, by its place. `tenant`: whose jobs alone they may be. */
type How = { progressOf?: (at: number) => Json | undefined; tenant?: string };

/**
 * running → running, until now + `lease_seconds`: the heartbeat for every job a worker runs, in one statement, with the
 * progress of some. A lease that ran out but has not been recovered yet is still the holder's. It may be shortened as well.
 *
 * @example
 * const { lost } = await extendLeases(deps, running, 30);
 */
export async function extendLeases<L extends Pick<Lease, "id" | "lease_token">>(
  deps: Pick<Deps, "database">,
  leases: readonly L[],
  lease_seconds: number,
  { progressOf = () => undefined, tenant = "" }: How = {},
): Promise<Extended<L>> {
  if (leases.length === 0) return { lost: [], locked: [], locked_until: undefined };
  const rows = await executeOn(deps.database)<{ id: string; locked_until: Date | null }>({
    text: renew,
    params: [...leaseParams(leases), lease_seconds, byJob(leases, progressOf), tenant],
  });
  const found = new Map(rows.map(({ id, locked_until }) => [id, locked_until]));
  return {
    lost: leases.filter(({ id }) => !found.has(id)),
    locked: leases.filter(({ id }) => found.get(id) === null),
    locked_until: rows.find(({ locked_until }) => locked_until !== null)?.locked_until ?? undefined,
  };
}

const isMeant = `${holdsLease} AND ($6 = '' OR jobs.tenant = $6)`;

// A claim is looked at later than its leases end only after one was shortened, or the clock was set back. A job without new
// progress keeps what it has.
const renew = composed(
  "lease/extend",
  [...leaseParameters, "lease_seconds", "progress", "tenant"],
  `
  WITH held AS MATERIALIZED (SELECT jobs.id, jobs.locked_until FROM atlasqueue.jobs WHERE ${isMeant}), ${lockFree("held")}, renewed AS (
    UPDATE atlasqueue.jobs SET locked_until = now() + make_interval(secs => $4::float8),
                    progress = coalesce((CASE WHEN (SELECT $5::text <> '{}') THEN ${ofJob("$5")} END)::json, progress)
    WHERE ${isFree} AND ${holdsLease} AND ${unsyncedUnlessLate("$4")}
    RETURNING jobs.id, locked_until
  ), sooner AS (
    UPDATE atlasqueue.claims SET check_at = now() + make_interval(secs => $4::float8)
    WHERE token = ANY(ARRAY(
      SELECT token FROM atlasqueue.claims WHERE token = ANY($3::uuid[]) AND check_at > now() + make_interval(secs => $4::float8)
      FOR UPDATE SKIP LOCKED))
  )
  SELECT held.id, renewed.locked_until FROM held LEFT JOIN renewed ON renewed.id = held.id`,
);
