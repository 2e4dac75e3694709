import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { asyncCommit, lockTimeout, isFree, lockFree } from "../database/clauses.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { aboutLease } from "./lease.ts";
import { countMoves } from "../counts/changes.ts";
import { asQueued } from "./release.ts";

/**
 * `given` went back now: signal them. `waiting` were ready already: signal those too if the answer to an earlier call
 * was lost, as it may have given them back. `locked` are still held, as another transaction has their rows locked:
 * repeat it.
 */
export type RevokedClaim = { given: ReadyJob[]; waiting: ReadyJob[]; locked: number };

/** No claim under the token is taken for this long: longer than one can be on its way. */
const refused_seconds = 300;

/**
 * running → queued, with the attempt given back, for all jobs of a claim whose answer was lost. The claim may not even
 * have arrived yet: its token is taken first, and a claim under a taken token is refused as a whole. Two statements, as
 * the second must see a claim committed while the first waited for it.
 *
 * @example
 * const { given, locked } = await revokeClaim(deps, "default", lease_token);
 */
export async function revokeClaim(deps: Deps, tenant: string, lease_token: string): Promise<RevokedClaim> {
  const execute = executeOn(deps.database);
  await execute({ text: takeToken, params: [lease_token, refused_seconds, tenant] });
  const rows = await execute<Held>({ text: releaseText, params: [lease_token, tenant] });
  const are = (wanted: Held["state"]) => rows.filter(({ state }) => state === wanted);
  const given = are("given");
  for (const job of given) deps.observe({ event: "job_released", ...aboutLease(job) });
  return { given, waiting: are("waiting"), locked: are("locked").length };
}

type Held = ReadyJob & { type: string; attempts: number; worker_id: string; state: "given" | "locked" | "waiting" };

// The sweep forgets it with the other claims that have no jobs left.
const takeToken = composed(
  "lease/revoke-claim-token",
  ["lease_token", "refused_seconds", "tenant"],
  `
  INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
  SELECT $3, $1::uuid, '', now() + make_interval(secs => $2::float8), '{}' WHERE ${asyncCommit} AND ${lockTimeout}
  ON CONFLICT (token, tenant) DO NOTHING`,
);

const holds = "jobs.lease_token = $1::uuid AND jobs.status = 'running'";
const itsJobs =
  "id = ANY(ARRAY(SELECT unnest(job_ids) FROM atlasqueue.claims WHERE token = $1::uuid AND tenant = $2)) AND tenant = $2";
const releaseText = composed(
  "lease/revoke-claim",
  ["lease_token", "tenant"],
  `
  WITH held AS MATERIALIZED (
    SELECT id, tenant, queue, type, priority, attempts, worker_id FROM atlasqueue.jobs
    WHERE ${itsJobs} AND ${holds}
  ), ${lockFree("held")}, given AS (
    UPDATE atlasqueue.jobs SET ${asQueued} WHERE ${isFree} AND ${holds}
    RETURNING jobs.id, tenant, queue
  ), ${countMoves("given", "running", "queued")}
  SELECT held.*, CASE WHEN given.id IS NULL THEN 'locked' ELSE 'given' END AS state
  FROM held LEFT JOIN given ON given.id = held.id
  UNION ALL
  SELECT id, tenant, queue, type, priority, attempts, '', 'waiting' FROM atlasqueue.jobs
  WHERE ${itsJobs} AND status = 'queued'`,
);
