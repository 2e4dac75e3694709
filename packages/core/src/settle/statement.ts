import type { DeadResult, JobStatus, Json, LogLine } from "@atlasqueue/contract";
import { countChanges } from "../counts/changes.ts";
import { composed } from "../database/composed.ts";
import { lockTimeout } from "../database/clauses.ts";
import type { Statement } from "../database/statement.ts";
import { fingerprintOf } from "../dead-letters/fingerprint.ts";
import { noteParents } from "../outbox/notes.ts";
import { byJob, holdsLease, leaseInput, leaseParameters, leaseParams, ofJob, textOfJob } from "../lease/fence.ts";
import type { Lease } from "../lease/lease.ts";
import type { Verdict } from "./verdict.ts";

/** A job that succeeded. `log` is what the handler logged, if anything. */
export type Completion = { lease: Lease; result: Json; log?: readonly LogLine[] | undefined };
/** One that failed: `error` as `errorText` makes it, `error_data` as `errorData` does. */
export type Failure = {
  lease: Lease;
  error: string;
  error_data?: Json | undefined;
  verdict: Verdict;
  log?: readonly LogLine[] | undefined;
};
export type Settling = Completion | Failure;

/** The jobs that it did not settle, those settled whose children wait for the news, and the failed ones. */
export type Settlement = {
  refused: string[] | null;
  parents: string[] | null;
  failed: { id: string; status: JobStatus; run_at: string; dead_reason: string | null }[] | null;
};

/** The statement that settles jobs, each if it still runs under its token. It returns one `Settlement`. */
export function settlementOf(settlings: readonly Settling[]): Statement {
  return { text, params: settlementParams(settlings, failureOf, resultOf, ({ log }) => log) };
}

/** Leases, and the values of their jobs. */
export function settlementParams<One extends Settling>(
  settlings: readonly One[],
  ...values: ((one: One) => unknown)[]
): string[] {
  const leases = settlings.map(({ lease }) => lease);
  return [...leaseParams(leases), ...values.map((valueOf) => byJob(leases, (at) => valueOf(settlings[at] as One)))];
}

function failureOf(one: Settling) {
  if (!("verdict" in one)) return undefined;
  const { error, verdict } = one;
  if (verdict.kind === "retry") return { status: "failed", error, delay: verdict.delay_ms / 1_000 };
  return { status: "dead", error, reason: verdict.reason, fingerprint: fingerprintOf(error) };
}

/** As text, since jsonb would sort its keys. A job that will run again has none. */
export function resultOf(one: Settling): string | undefined {
  if ("verdict" in one) {
    const { error_data, verdict } = one;
    return error_data === undefined || verdict.kind === "retry"
      ? undefined
      : JSON.stringify({ error_data } satisfies DeadResult);
  }
  return one.result === null ? undefined : JSON.stringify(one.result);
}

// A parameter is {} for a batch that has nothing of the kind: then no job is looked up in it, which would be 2 % of a
// settlement. Values are looked up where they are used: a join with them could become a nested loop.
const given = (parameter: string, value: string) => `CASE WHEN (SELECT ${parameter}::text <> '{}') THEN ${value} END`;
/** The result of a job in a parameter. */
export const resultIn = (parameter: string) => `(${given(parameter, textOfJob(parameter))})::json`;
const failure = (field: string) => given("$4", `${ofJob("$4")} ->> '${field}'`);
const retryAt = `now() + make_interval(secs => (${failure("delay")})::float8)`;
export const logIn = (parameter: string) => given(parameter, ofJob(parameter, "id"));
const log = logIn("$6");

// The answer names only the refused ones, mostly none: naming the others would take a row per job, and even to look for
// them costs, so they are counted first. A success that logged nothing leaves no row in the history.
const text = composed(
  "settle/settle",
  [...leaseParameters, "failures", "results", "logs"],
  `
  WITH settled AS (
    UPDATE atlasqueue.jobs SET status = coalesce(${failure("status")}, 'succeeded'),
                    dead_reason = ${failure("reason")}, run_at = coalesce(${retryAt}, run_at), due_at = ${retryAt},
                    dead_at = CASE WHEN (${failure("reason")}) IS NOT NULL THEN now() END,
                    finished_at = CASE WHEN (${failure("delay")}) IS NULL THEN now() END,
                    active_group_key = CASE WHEN (${failure("delay")}) IS NOT NULL THEN active_group_key END,
                    error_fingerprint = ${failure("fingerprint")}, last_error = ${failure("error")},
                    result = ${resultIn("$5")}, updated_at = now(), locked_until = NULL
    WHERE ${lockTimeout} AND ${holdsLease}
    RETURNING jobs.id, tenant, queue, attempts, worker_id, started_at, run_at, dead_reason, last_error,
              has_children AND status <> 'failed' AS has_children, nullif(status, 'succeeded') AS failed_as
  ), ${noteParents("settled")}, ${countChanges("settled", {
    running: "-count(*)",
    succeeded: "count(*) - count(failed_as)",
    failed: "count(*) FILTER (WHERE failed_as = 'failed')",
    dead: "count(*) FILTER (WHERE failed_as = 'dead')",
  })}, history AS (
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, worker_id, started_at, finished_at, outcome, error, logs)
    SELECT tenant, id, attempts, worker_id, started_at, now(), CASE WHEN failed_as IS NULL THEN 'succeeded' ELSE 'failed' END, last_error, (${log})::json
    FROM settled WHERE (SELECT $4::text <> '{}' OR $6::text <> '{}') AND (failed_as IS NOT NULL OR (${log}) IS NOT NULL)
  )
  SELECT json_agg(input.id) AS refused, (SELECT json_agg(job_id) FROM noted_parents) AS parents, (
    SELECT json_agg(json_build_object('id', id, 'status', failed_as, 'run_at', run_at, 'dead_reason', dead_reason))
    FROM settled WHERE (SELECT $4::text <> '{}') AND failed_as IS NOT NULL) AS failed
  FROM ${leaseInput}
  WHERE (SELECT count(*) FROM settled) < cardinality($1::uuid[]) AND input.id NOT IN (SELECT id FROM settled)`,
);
