import { randomUUID } from "node:crypto";
import { countChanges } from "../counts/changes.ts";
import { composed } from "../database/composed.ts";
import { afterSome, isLocked, isUnavailable, outcomeUnknown } from "../database/errors.ts";
import { hidden } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import { lockTimeout } from "../database/clauses.ts";
import { tcpUserTimeout } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { noteParents } from "../outbox/notes.ts";
import { sameGroup, waitingIn } from "../groups/join.ts";
import { holdsLease, leaseParameters } from "../lease/fence.ts";
import { leaseEvent, type Claimer, type Lease } from "../lease/lease.ts";
import { page_bytes_max, payloadBytes } from "../memory-budget/bytes.ts";
import { isNotExpired, leaseColumns, ofTypes, readTrace, typesIn, type LeaseRow } from "../lease/take-leases.ts";
import { isTokenTaken } from "../lease/claim/statement.ts";
import { hasMark } from "../limits/capacity.ts";
import { complete, type Completion, type SettleOutcome, reportOutcomes } from "./settle.ts";
import { logIn, resultIn, resultOf, settlementParams, type Settlement } from "./statement.ts";

/** The worker that takes the next jobs, and the completed jobs, by id, whose groups are to go on. */
export type LeaseNext = Pick<Claimer, "worker_id" | "lease_seconds" | "lease_token" | "unanswered" | "types"> & {
  after: readonly string[];
  /** Each lease has the whole job in place of its payload: for a remote worker. */
  whole?: boolean;
};

/** The outcomes in the order of the completions, and the lease of each one's next job that could be taken. */
export type CompletedAndLeased = { outcomes: SettleOutcome[]; next: ReadonlyMap<Lease, Lease> };

/**
 * `complete`, and of the groups named the next job is blocked → running in the same statement, under a new token: so no
 * job of a group starts before the one in front of it is settled for good, and between the two lie one round trip and one
 * commit. Jobs whose next cannot be leased are settled by `complete` after it, as are all others. When an answer is lost,
 * what may have been taken goes back through `unanswered`, and the settlement may be repeated.
 *
 * @example
 * const { outcomes, next } = await completeAndLeaseNext(deps, completions, { worker_id, lease_seconds: 30, after: [id] });
 */
export async function completeAndLeaseNext(
  deps: Deps,
  completions: readonly Completion[],
  { worker_id, lease_seconds, lease_token = randomUUID(), after, unanswered, whole = false, types }: LeaseNext,
): Promise<CompletedAndLeased> {
  const next = new Map<Lease, Lease>();
  const asked = new Set(after);
  const going_on = completions.filter(({ lease }) => asked.has(lease.id));
  if (going_on.length === 0) return { outcomes: await complete(deps, completions), next };
  const params = settlementParams(going_on, resultOf, ({ log }) => log);
  const mayHaveTaken = () => {
    for (const tenant of new Set(completions.map(({ lease }) => lease.tenant))) unanswered?.(lease_token, tenant);
  };
  let rows;
  try {
    const statement = {
      text: settling,
      params: [...params, lease_token, worker_id, lease_seconds, String(whole), typesIn(types)],
    };
    rows = await executeOn(deps.database)<Row>(statement);
  } catch (error) {
    if (outcomeUnknown(error)) mayHaveTaken();
    if (isUnavailable(error) && !isLocked(error)) throw error;
    // What is wrong with the next job must not keep this one from being settled.
    const outcomes = await complete(deps, completions);
    if (!isLocked(error) && !isTokenTaken(error)) deps.observe({ event: "groups_failed", error: String(error) });
    return { outcomes, next };
  }
  const answer = rows.find(({ settlement }) => settlement);
  const taken = new Map<string, Lease>();
  for (const row of rows) {
    if (row === answer) continue;
    readTrace(row);
    taken.set(groupOf(row), { ...row, lease_token, worker_id, followed: true });
  }
  const left = new Set(answer?.settlement?.refused);
  const settled = new Set(going_on.filter(({ lease }) => !left.has(lease.id)));
  const rest = completions.filter((one) => !settled.has(one));
  const parents = answer?.settlement?.parents ?? null;
  const outcomes = await reportOutcomes(deps, [...settled], { refused: null, parents, failed: null });
  const others = await (rest.length > 0 ? complete(deps, rest) : Promise.resolve([])).catch((error: unknown) => {
    mayHaveTaken();
    return afterSome(settled.size > 0)(error);
  });
  for (const { lease } of settled) {
    const one = taken.get(groupOf(lease));
    if (!one) continue;
    next.set(lease, one);
    deps.observe(leaseEvent("lease_acquired", one));
  }
  return { outcomes: completions.map((one) => (settled.has(one) ? outcomes : others).shift() as SettleOutcome), next };
}

/** The answer, in a row of its own, or a job that was leased. */
type Row = LeaseRow & { settlement: Pick<Settlement, "refused" | "parents"> | null };
const groupOf = ({ tenant, queue, group_key }: Lease) => `${tenant}\0${queue}\0${group_key}`;

// The turn of a group passes from one job to the next: the group's row is neither locked nor changed, so this waits for no
// submission to the group, and none of them finds it without a job. `heads` then names an earlier job, which stands for the
// one that has `active_group_key`. Places are given in commit order, so a snapshot that has a waiting job has all before it.
// Only jobs whose next can be leased are settled: not in queues that are paused, limited or fair, or run several jobs of a
// group; not if the next is not due or locked; nor once the payloads are together as large as those of a claim may be.
// The CASE keeps the condition on `goes` from becoming a join, which would be planned for few rows and loop over hundreds.
const settling = composed(
  "settle/complete-and-lease-next",
  [...leaseParameters, "results", "logs", "next_token", "worker_id", "lease_seconds", "whole", "types"],
  `
  WITH going_on AS MATERIALIZED (
    SELECT ended.id, next.id AS next_id, sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) - bytes AS before
    FROM atlasqueue.jobs AS ended CROSS JOIN LATERAL (
      SELECT id, (
        SELECT ${payloadBytes} FROM atlasqueue.jobs
        WHERE ctid = first.spot AND id = first.id AND group_seq > 0 AND run_at <= statement_timestamp() AND ${isNotExpired} AND ${ofTypes("$10")}
        FOR NO KEY UPDATE SKIP LOCKED) AS bytes
      FROM (${waitingIn("ended", "ctid AS spot, id", "1")}) AS first
      WHERE (SELECT cardinality(heads) = 1 FROM atlasqueue.job_groups AS one WHERE ${sameGroup("one", "ended")}) OFFSET 0) AS next
    WHERE ended.id = ANY(${hidden("$1::uuid[]")}) AND bytes IS NOT NULL AND coalesce((
      SELECT paused_at IS NULL AND coalesce(group_concurrency, 1) = 1 AND NOT ${hasMark}
      FROM atlasqueue.queues WHERE queues.tenant = ended.tenant AND queues.queue = ended.queue), true)
  ), goes AS MATERIALIZED (
    SELECT id, next_id FROM going_on WHERE before < ${page_bytes_max}
  ), settled AS (
    UPDATE atlasqueue.jobs SET status = 'succeeded', active_group_key = NULL, last_error = NULL, result = ${resultIn("$4")},
                    finished_at = now(), updated_at = now(), locked_until = NULL
    WHERE ${lockTimeout} AND ${holdsLease} AND CASE WHEN true THEN jobs.id IN (SELECT id FROM goes) END
    RETURNING jobs.id, tenant, queue, attempts, worker_id, started_at, has_children
  ), ${noteParents("settled")}, history AS (
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, worker_id, started_at, finished_at, outcome, logs)
    SELECT tenant, id, attempts, worker_id, started_at, now(), 'succeeded', (${logIn("$5")})::json
    FROM settled WHERE (SELECT $5::text <> '{}') AND (${logIn("$5")}) IS NOT NULL
  ), leased AS (
    UPDATE atlasqueue.jobs SET status = 'running', group_seq = NULL, active_group_key = group_key, attempts = attempts + 1,
                    lease_token = $6::text::uuid, worker_id = $7,
                    started_at = statement_timestamp(), updated_at = statement_timestamp(),
                    locked_until = statement_timestamp() + make_interval(secs => $8::float8)
    WHERE id = ANY(ARRAY(SELECT next_id FROM goes WHERE id IN (SELECT id FROM settled))) AND ${tcpUserTimeout}
    RETURNING tenant, ${leaseColumns("$9")}
  ), batch AS (
    INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
    SELECT tenant, $6::text::uuid, $7, statement_timestamp() + make_interval(secs => $8::float8), array_agg(id)
    FROM leased GROUP BY tenant
  ), ${countChanges(
    "(SELECT tenant, queue, 0 AS taken FROM settled UNION ALL SELECT tenant, queue, 1 FROM leased) AS moved",
    { blocked: "-sum(taken)", running: "sum(taken * 2 - 1)", succeeded: "sum(1 - taken)" },
  )}, answer AS (
    SELECT json_build_object('parents', (SELECT json_agg(job_id) FROM noted_parents), 'refused', json_agg(id)) AS settlement
    FROM unnest($1::uuid[]) AS input(id)
    WHERE (SELECT count(*) FROM settled) < cardinality($1::uuid[]) AND id NOT IN (SELECT id FROM settled)
  )
  SELECT * FROM answer FULL JOIN leased ON false`,
);
