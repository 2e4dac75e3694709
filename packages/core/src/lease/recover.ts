import { composed } from "../database/composed.ts";
import { inTransaction, idleTxTimeout } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { aboutLease } from "./lease.ts";
import { asEnded } from "./forget-claims.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { fingerprintOf } from "../dead-letters/fingerprint.ts";
import { noteParents } from "../outbox/notes.ts";
import { advanceIn, readyOf } from "../groups/advance.ts";
import { groupIsFree } from "../groups/join.ts";
import { lockFreeOnes } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";

/** `claims` is how many claims were looked at; `more` is false when no other is due. Signal `requeued` and `ready`. */
export type Recovered = {
  requeued: (ReadyJob & { type: string })[];
  dead: RecoveredJob[];
  /** The next jobs of the groups of those that died. */
  ready: ReadyJob[];
  claims: number;
  more: boolean;
};
type RecoveredJob = ReadyJob & { type: string; group_key: string | null; has_children: boolean | null };

/**
 * running → queued at once, for jobs whose worker stopped renewing; dead when the lost lease was the last attempt, so
 * that a job that kills its worker comes to an end. The lost attempt goes to the history in the same statement. Looks
 * at the claims that are due: those with jobs still leased are looked at again when the next lease ends. Takes back
 * `jobs_max` jobs at most: of a claim with more, the rest is due at once. Waits for nothing: a job that would die stays as
 * long as another transaction has its group locked.
 *
 * @example
 * const { requeued, dead, more } = await recoverExpired(deps, 50);
 */
export async function recoverExpired(deps: Deps, claims_max: number, jobs_max = recovered_max): Promise<Recovered> {
  type Answer = { claims: number; more: boolean; jobs: Recovery[] | null };
  const { answer, through } = await inTransaction(deps.database, async (execute) => {
    const params = [claims_max, leaseLostError, fingerprintOf(leaseLostError), jobs_max];
    const [row] = await execute<Answer>({ text: recover, params });
    const ended = row?.jobs?.filter(({ status, group_key }) => status === "dead" && group_key !== null) ?? [];
    return { answer: row, through: await advanceIn(execute, ended) };
  });
  const rows = answer?.jobs ?? [];
  for (const row of rows) {
    const about = aboutLease(row);
    deps.observe({ event: "lease_expired", ...about, outcome: row.status === "dead" ? "dead" : "requeued" });
    if (row.status === "dead")
      deps.observe({ event: "job_dead", ...about, error: leaseLostError, reason: "lease_lost" });
  }
  return {
    requeued: rows.filter((row) => row.status === "queued"),
    dead: rows.filter((row) => row.status === "dead"),
    ready: readyOf(deps, through),
    claims: answer?.claims ?? 0,
    more: answer?.more ?? false,
  };
}

/** Jobs in one statement: a claim may have thousands, and all of a fleet's may end together. */
export const recovered_max = 1_000;

const leaseLostError = "LeaseLost: the worker stopped renewing its lease";

type Recovery = RecoveredJob & { status: "queued" | "dead"; attempts: number; worker_id: string };

const livesOrIsFree = `(jobs.group_key IS NULL OR jobs.attempts < jobs.max_attempts OR ${groupIsFree("jobs")})`;

// `still_open` asks what was recovered, not what had expired: a lease renewed since the snapshot is neither, and its
// batch must stay. One whose row another transaction has locked could not be renewed either, so its worker gets the
// first turn when that ends: it tries four times a second. The bound on jobs is behind the lock, so that rows somebody
// has locked do not use it up. Claims are found by `= ANY`: a join could be planned as a scan of all that ever were, where
// somebody's snapshot is open.
const recover = composed(
  "lease/recover",
  ["claims_max", "error", "fingerprint", "jobs_max"],
  `
  WITH due AS MATERIALIZED (
    SELECT tenant, token, job_ids, check_at FROM atlasqueue.claims WHERE check_at <= now() AND ${idleTxTimeout}
    ORDER BY check_at LIMIT $1::int FOR UPDATE SKIP LOCKED
  ), looked_at AS MATERIALIZED (
    SELECT tenant, token, job_ids FROM (
      SELECT tenant, token, job_ids, sum(cardinality(job_ids)) OVER (ORDER BY check_at, token) - cardinality(job_ids) AS before FROM due
    ) AS counted WHERE before < $4::int
  ), running AS MATERIALIZED (
    SELECT looked_at.tenant, looked_at.token, jobs.id, jobs.locked_until, jobs.worker_id, jobs.started_at
    FROM looked_at CROSS JOIN LATERAL unnest(looked_at.job_ids) AS member(id) JOIN atlasqueue.jobs ON jobs.id = member.id
    WHERE jobs.lease_token = looked_at.token AND jobs.status = 'running'
  ), ended AS MATERIALIZED (
    SELECT * FROM running WHERE locked_until <= now()
  ), ${lockFreeOnes("ended", "$4::int", livesOrIsFree)}, recovered AS (
    UPDATE atlasqueue.jobs SET
      status = CASE WHEN attempts >= max_attempts THEN 'dead' ELSE 'queued' END,
      ready_at = CASE WHEN attempts < max_attempts THEN run_at END,
      dead_at = CASE WHEN attempts >= max_attempts THEN now() END,
      finished_at = CASE WHEN attempts >= max_attempts THEN now() END,
      active_group_key = CASE WHEN attempts < max_attempts THEN active_group_key END,
      dead_reason = CASE WHEN attempts >= max_attempts THEN 'lease_lost' END,
      error_fingerprint = CASE WHEN attempts >= max_attempts THEN $3 END,
      last_error = $2, lease_token = NULL, locked_until = NULL, updated_at = now()
    FROM free
    WHERE jobs.id = free.id AND jobs.lease_token = free.token AND jobs.status = 'running' AND jobs.locked_until <= now()
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.group_key, jobs.priority, jobs.type, jobs.status, jobs.attempts, jobs.has_children,
              'running' AS from_status, jobs.status AS to_status,
              free.worker_id, free.started_at
  ), history AS (
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, worker_id, started_at, finished_at, outcome, error)
    SELECT tenant, id, attempts, worker_id, started_at, now(), 'lost', $2 FROM recovered
  ), ${countMixedMoves("recovered")}, dead AS (
    SELECT id, tenant, has_children FROM recovered WHERE status = 'dead'
  ), ${noteParents("dead")}, still_open AS (
    SELECT tenant, token, CASE WHEN min(locked_until) > now() THEN greatest(min(locked_until), now() + interval '1 second')
                       WHEN (SELECT count(*) FROM free) < $4::int THEN now() + interval '3 seconds'
                       ELSE now() END AS check_at
    FROM running WHERE id NOT IN (SELECT id FROM recovered) GROUP BY tenant, token
  ), kept AS (
    UPDATE atlasqueue.claims SET check_at = (
      SELECT check_at FROM still_open WHERE still_open.token = claims.token AND still_open.tenant = claims.tenant)
    WHERE token = ANY(ARRAY(SELECT token FROM still_open)) AND (token, tenant) IN (SELECT token, tenant FROM still_open)
  ), over AS MATERIALIZED (
    SELECT tenant, token, job_ids = '{}' AS is_gone FROM looked_at
    WHERE NOT EXISTS (SELECT FROM still_open WHERE still_open.token = looked_at.token AND still_open.tenant = looked_at.tenant)
  ), emptied AS (
    UPDATE atlasqueue.claims SET ${asEnded}
    WHERE token = ANY(ARRAY(SELECT token FROM over)) AND (token, tenant) IN (SELECT token, tenant FROM over WHERE NOT is_gone)
  ), gone AS (
    DELETE FROM atlasqueue.claims
    WHERE token = ANY(ARRAY(SELECT token FROM over)) AND (token, tenant) IN (SELECT token, tenant FROM over WHERE is_gone)
  )
  SELECT (SELECT count(*)::int FROM looked_at) AS claims,
         (SELECT count(*) FROM due) = $1::int OR (SELECT count(*) FROM looked_at) < (SELECT count(*) FROM due)
           OR (SELECT count(*) FROM free) = $4::int AS more,
         (SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'priority', priority, 'type', type,
                                            'status', status, 'attempts', attempts, 'worker_id', worker_id,
                                            'group_key', group_key, 'has_children', has_children))
          FROM recovered) AS jobs`,
);

/** `locked` of its jobs keep their leases, as another transaction has their rows locked: repeat it. */
export type LeasesEnded = { ended: number; locked: number };

/**
 * running → running, with a lease that ends now: for all jobs of a worker whose process has ended, as seen by the
 * process that started it. The next sweep recovers them.
 *
 * @example
 * const { ended } = await endLeases(deps, worker_id);
 */
export async function endLeases(deps: Pick<Deps, "database">, worker_id: string): Promise<LeasesEnded> {
  const [answer] = await executeOn(deps.database)<LeasesEnded>({ text: end, params: [worker_id] });
  return answer ?? { ended: 0, locked: 0 };
}

const end = composed(
  "lease/end-leases",
  ["worker_id"],
  `
  WITH theirs AS MATERIALIZED (
    SELECT token, job_ids FROM atlasqueue.claims WHERE worker_id = $1 FOR UPDATE SKIP LOCKED
  ), running AS MATERIALIZED (
    SELECT theirs.token, jobs.id
    FROM theirs CROSS JOIN LATERAL unnest(theirs.job_ids) AS member(id) JOIN atlasqueue.jobs ON jobs.id = member.id
    WHERE jobs.lease_token = theirs.token AND jobs.status = 'running' AND jobs.locked_until > now()
  ), ${lockFreeOnes("running")}, ended AS (
    UPDATE atlasqueue.jobs SET locked_until = now() FROM free
    WHERE jobs.id = free.id AND jobs.lease_token = free.token AND jobs.status = 'running' AND jobs.locked_until > now()
    RETURNING jobs.id, free.token
  ), sooner AS (
    UPDATE atlasqueue.claims SET check_at = now() WHERE token = ANY(ARRAY(SELECT token FROM ended))
  )
  SELECT (SELECT count(*)::int FROM ended) AS ended,
         (SELECT count(*)::int FROM running WHERE id NOT IN (SELECT id FROM ended)) AS locked`,
);
