import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { aboutLease, type Returnable } from "./lease.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { holdsLease, leaseParams, leaseParameters } from "./fence.ts";
import { isFree, lockFree, asyncCommit, lockTimeout } from "../database/clauses.ts";

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

/** No claim under the token is taken for this long: longer than one can be on its way. */
const refused_seconds = 300;

/**
 * `release` for all jobs of a claim whose answer was lost. The claim may not even have arrived yet: its token is taken
 * first, and a claim under a taken token is refused as a whole. The next statement sees a claim that was committed while
 * the first waited for it.
 *
 * @example
 * const { given, locked } = await revokeClaim(deps, "default", lease_token);
 */
export async function revokeClaim(deps: Deps, tenant: string, lease_token: string): Promise<Released<Returnable>> {
  const execute = executeOn(deps.database);
  await execute({ text: takeToken, params: [lease_token, refused_seconds, tenant] });
  return release(deps, await execute<Returnable>({ text: held, params: [lease_token, tenant] }));
}

// The sweep forgets it with the other claims that have no jobs left.
const takeToken = composed(
  "lease/revoke-claim",
  ["lease_token", "refused_seconds", "tenant"],
  `
  INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
  SELECT $3, $1::uuid, '', now() + make_interval(secs => $2::float8), '{}' WHERE ${asyncCommit} AND ${lockTimeout}
  ON CONFLICT (token, tenant) DO NOTHING`,
);

const held = `
  SELECT id, tenant, queue, type, priority, attempts, lease_token, worker_id FROM atlasqueue.jobs
  WHERE id = ANY(ARRAY(SELECT unnest(job_ids) FROM atlasqueue.claims WHERE token = $1::uuid AND tenant = $2)) AND tenant = $2
    AND lease_token = $1::uuid AND status = 'running'`;
