import type { Json } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { asyncCommitUnlessLate, isFree, lockFree, lockTimeout } from "../database/clauses.ts";
import type { Deps } from "../deps.ts";
import type { Lease } from "./lease.ts";
import { byJob, holdsLease, leaseParams, leaseParameters, ofJob } from "./fence.ts";
import { withPriority } from "../database/pool/fair-share.ts";

type Held = Pick<Lease, "id" | "lease_token">;
export type Report = { lease: Lease; progress: Json };

/**
 * `lost`: no longer held, or settled by the caller meanwhile. `locked`: held, but another transaction has locked the rows,
 * so renew them again soon. The others are held until `locked_until`.
 */
export type Extended<L> = { lost: L[]; locked: L[]; locked_until: Date | undefined };

/**
 * running → running, until now + `lease_seconds`: the heartbeat for every job a worker runs, in one statement. A lease
 * that ran out but has not been recovered yet is still the holder's.
 *
 * @example
 * const { lost } = await extendLeases(deps, running, 30);
 */
export async function extendLeases<L extends Held>(
  deps: Pick<Deps, "database">,
  leases: readonly L[],
  lease_seconds: number,
): Promise<Extended<L>> {
  return write(deps, leases, String(lease_seconds), "{}");
}

/**
 * running → running, with the progress of the jobs, all in one statement. A report under a lost lease changes nothing.
 * Resolves with those whose rows another transaction has locked: report them again soon. A hint, so it does not wait for
 * the disk.
 *
 * @example
 * const locked = await reportProgress(deps, [{ lease, progress: { done: 0.4, note: "4 of 10" } }]);
 */
export async function reportProgress<R extends Report>(deps: Deps, reports: readonly R[]): Promise<R[]> {
  const leases = reports.map(({ lease }) => lease);
  const { locked } = await write(
    deps,
    leases,
    "",
    byJob(leases, (at) => reports[at]?.progress),
  );
  return reports.filter(({ lease }) => locked.includes(lease));
}

async function write<L extends Held>(
  deps: Pick<Deps, "database">,
  leases: readonly L[],
  lease_seconds: string,
  progress: string,
): Promise<Extended<L>> {
  if (leases.length === 0) return { lost: [], locked: [], locked_until: undefined };
  const rows = await executeOn(deps.database)<{ id: string; locked_until: Date | null }>({
    text: renew,
    params: [...leaseParams(leases), lease_seconds, progress],
  });
  const found = new Map(rows.map(({ id, locked_until }) => [id, locked_until]));
  return {
    lost: leases.filter(({ id }) => !found.has(id)),
    locked: leases.filter(({ id }) => found.get(id) === null),
    locked_until: rows.find(({ locked_until }) => locked_until !== null)?.locked_until ?? undefined,
  };
}

// `check_at` is later than the end of the leases only after the clock was set back. Without `lease_seconds` the end stays.
const ends_at = "now() + make_interval(secs => nullif($4::text, '')::float8)";
const renew = composed(
  "lease/extend",
  [...leaseParameters, "lease_seconds", "progress"],
  `
  WITH held AS MATERIALIZED (SELECT jobs.id, jobs.locked_until FROM atlasqueue.jobs WHERE ${holdsLease}), ${lockFree("held")}, renewed AS (
    UPDATE atlasqueue.jobs SET locked_until = coalesce(${ends_at}, locked_until),
                    progress = coalesce(${ofJob("$5")}::json, progress)
    WHERE ${isFree} AND ${holdsLease} AND ${asyncCommitUnlessLate("nullif($4::text, '')")}
    RETURNING jobs.id, locked_until
  ), sooner AS (
    UPDATE atlasqueue.claims SET check_at = ${ends_at}
    WHERE token = ANY(ARRAY(
      SELECT token FROM atlasqueue.claims WHERE token = ANY($3::uuid[]) AND check_at > ${ends_at}
      FOR UPDATE SKIP LOCKED))
  )
  SELECT held.id, renewed.locked_until FROM held LEFT JOIN renewed ON renewed.id = held.id`,
);

export type Heartbeat = { id: string; lease_token: string; lease_seconds: number; progress?: Json | undefined };
export type HeartbeatOutcome = { kind: "extended"; locked_until: Date } | { kind: "lease_lost" } | { kind: "unknown" };

/**
 * running → running, until now + `lease_seconds`: the heartbeat for one of a remote worker's jobs, with its progress.
 * It may shorten the lease as well as lengthen it. It waits behind nothing else of its tenant's. Throws after 200 ms
 * (`isLocked`) while another transaction has the job locked: repeat it soon.
 *
 * @example
 * const outcome = await heartbeat(deps, "default", { id, lease_token, lease_seconds: 30, progress: { done: 0.4 } });
 */
export async function heartbeat(deps: Deps, tenant: string, beat: Heartbeat): Promise<HeartbeatOutcome> {
  const progress = beat.progress === undefined ? "" : JSON.stringify(beat.progress);
  const params = [beat.id, tenant, beat.lease_token, beat.lease_seconds, progress];
  const [row] = await executeOn(withPriority(deps.database))<Beaten>({ text, params });
  if (!row) return { kind: "unknown" };
  return row.locked_until ? { kind: "extended", locked_until: row.locked_until } : { kind: "lease_lost" };
}

type Beaten = { locked_until: Date | null };

// Progress is a hint, and does not wait for the disk, nor does a renewal in good time. `nullif`: when no progress is sent the old
// one stays. The sweep looks at a claim when its leases would have ended, so it must look sooner at a shortened one.
const text = composed(
  "lease/heartbeat",
  ["id", "tenant", "lease_token", "lease_seconds", "progress"],
  `
  WITH held AS MATERIALIZED (
    SELECT id, locked_until FROM atlasqueue.jobs
    WHERE id = $1::uuid AND tenant = $2 AND lease_token = $3::uuid AND status = 'running'
  ), beaten AS (
    UPDATE atlasqueue.jobs SET locked_until = now() + make_interval(secs => $4::float8),
                    progress = coalesce(nullif($5, '')::json, progress)
    WHERE ${lockTimeout} AND id = $1::uuid AND tenant = $2 AND lease_token = $3::uuid AND status = 'running'
      AND ${asyncCommitUnlessLate("$4")}
    RETURNING id, locked_until
  ), sooner AS (
    UPDATE atlasqueue.claims SET check_at = beaten.locked_until FROM beaten
    WHERE token = $3::uuid AND check_at > beaten.locked_until
  )
  SELECT beaten.locked_until FROM atlasqueue.jobs LEFT JOIN beaten ON beaten.id = jobs.id WHERE jobs.id = $1::uuid AND jobs.tenant = $2`,
);
