import { composed } from "../database/composed.ts";
import type { DeadResult, Json, LogLine } from "@atlasqueue/contract";
import { executeOn, type Statement } from "../database/statement.ts";
import { fingerprintOf } from "../dead-letters/fingerprint.ts";
import type { Deps } from "../deps.ts";
import type { Verdict } from "./verdict.ts";
import { aboutLease, type Lease } from "../lease/lease.ts";
import { countChanges } from "../counts/changes.ts";
import { noteParents } from "../flows/note-parents.ts";
import { endInGroups, sharedOut } from "../groups/advance.ts";
import { groupIsFree } from "../groups/join.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { byJob, holdsLease, leaseParameters, leaseParams, ofJob } from "../lease/fence.ts";
import { afterSome } from "../database/errors.ts";
import { settledBefore, type SettledJob } from "./settled-before.ts";
import { impatient, isFree, lockFree, passingOverLocked, type Form } from "../database/skip-locked.ts";

/** `error` as `errorText` makes it, `error_data` as `errorData` does; `log` what the handler logged, if anything. */
export type Failure = {
  lease: Lease;
  error: string;
  error_data?: Json | undefined;
  verdict: Verdict;
  log?: readonly LogLine[] | undefined;
};
/**
 * `ready` are the jobs of its group to be signalled. `locked`: nothing happened yet, as another transaction has the row of
 * the job or of its group locked; repeat it.
 */
export type FailOutcome =
  | { kind: "retrying"; run_at: Date }
  | { kind: "dead"; has_children: boolean; ready?: readonly ReadyJob[] }
  | { kind: "lease_lost" }
  | { kind: "locked" };

/**
 * running → failed (until `run_at`) or dead, as the verdict says; after a dead one the next of its group may go. The attempt goes to the history in the same
 * statement. Only the holder of the current lease may do this; repeated, as its answer may get lost, it changes nothing
 * and answers the same. Outcomes are in the order of the failures.
 *
 * @example
 * const verdict = verdictAfterFailure({ ...lease, retryable: true }, policy, Math.random());
 * const [outcome] = await fail(deps, [{ lease, error: errorText(thrown), verdict }]);
 */
export async function fail(deps: Deps, failures: Failure[]): Promise<FailOutcome[]> {
  const leases = failures.map(({ lease }) => lease);
  const verdicts = byJob(leases, (at) => {
    const { error, error_data, verdict } = failures[at] as Failure;
    if (verdict.kind === "retry") return { error, delay: verdict.delay_ms / 1_000 };
    // As text: jsonb would sort its keys.
    const result = error_data === undefined ? {} : { result: JSON.stringify({ error_data } satisfies DeadResult) };
    return { error, reason: verdict.reason, fingerprint: fingerprintOf(error), ...result };
  });
  const logs = failures.some(({ log }) => log) ? byJob(leases, (at) => failures[at]?.log) : undefined;
  const params = [...leaseParams(leases), verdicts, ...(logs === undefined ? [] : [logs])];
  const forms = statementsFor(logs !== undefined, params);
  const ending = failures.flatMap(({ lease, verdict }) =>
    verdict.kind === "dead" && lease.group_key !== null ? [lease] : [],
  );
  const { rows: applied, ready } =
    ending.length === 0
      ? { rows: await passingOverLocked((form) => executeOn(deps.database)<SettledJob>(forms[form])), ready: [] }
      : await endInGroups<SettledJob>(deps, ending, forms, (rows) => {
          const dead = new Set(rows.flatMap(({ id, status }) => (status === "dead" ? [id] : [])));
          return ending.filter(({ id }) => dead.has(id));
        });
  const byId = new Map(applied.map((row) => [row.id, row]));
  const before = await settledBefore(
    deps,
    leases.filter(({ id }) => !byId.has(id)),
  ).catch(afterSome(byId.size > 0));
  const readyAfter = sharedOut(ending, ready);
  return failures.map((failure) =>
    outcomeOf(deps, failure, byId.get(failure.lease.id) ?? before.get(failure.lease.id), readyAfter),
  );
}

/** What the row says, as a repetition may carry a different delay from the one stored. */
function outcomeOf(
  deps: Deps,
  { lease, error, verdict }: Failure,
  row: SettledJob | undefined,
  readyAfter: (lease: Lease) => readonly ReadyJob[],
): FailOutcome {
  const about = aboutLease(lease);
  switch (row?.status) {
    case "dead": {
      deps.observe({ event: "job_dead", ...about, error, reason: row.dead_reason ?? "" });
      const ready = readyAfter(lease);
      return { kind: "dead", has_children: row.has_children ?? false, ...(ready.length > 0 && { ready }) };
    }
    case "failed":
    case "queued":
      deps.observe({
        event: "job_failed",
        ...about,
        error,
        retry_in_ms: verdict.kind === "retry" ? verdict.delay_ms : 0,
      });
      return { kind: "retrying", run_at: row.run_at };
    case "running":
      return { kind: "locked" };
    default:
      deps.observe({ event: "lease_lost", during: "settling", ...about });
      return { kind: "lease_lost" };
  }
}

// A row's verdict is looked up where it is used: a join with the verdicts could become a nested loop.
const verdict = (field: string) => `(${ofJob("$4")} ->> '${field}')`;
const retryAt = `(now() + make_interval(secs => ${verdict("delay")}::float8))`;

const counted = countChanges("settled", {
  running: "-count(*)",
  failed: "count(*) FILTER (WHERE status = 'failed')",
  dead: "count(*) FILTER (WHERE status = 'dead')",
});

const staysOrIsFree = `(group_key IS NULL OR ${verdict("reason")} IS NULL OR ${groupIsFree("jobs")})`;

const statement = (logged: boolean, form: Form) => `
  WITH ${form === "careful" ? `held AS MATERIALIZED (SELECT jobs.id FROM atlasqueue.jobs WHERE ${holdsLease}), ${lockFree("held", staysOrIsFree)},` : ""} settled AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN ${verdict("reason")} IS NULL THEN 'failed' ELSE 'dead' END,
                    dead_reason = ${verdict("reason")}, run_at = coalesce(${retryAt}, run_at), due_at = ${retryAt},
                    dead_at = CASE WHEN ${verdict("reason")} IS NOT NULL THEN now() END,
                    finished_at = CASE WHEN ${verdict("reason")} IS NOT NULL THEN now() END,
                    active_group_key = CASE WHEN ${verdict("reason")} IS NULL THEN active_group_key END,
                    error_fingerprint = ${verdict("fingerprint")}, last_error = ${verdict("error")}, result = ${verdict("result")}::json, updated_at = now(), locked_until = NULL
    WHERE ${form === "careful" ? isFree : impatient} AND ${holdsLease}
    RETURNING jobs.id, tenant, queue, status, attempts, worker_id, started_at, run_at, dead_reason, last_error, has_children
  ), ${counted}, history AS (
    INSERT INTO atlasqueue.job_attempts (job_id, attempt, worker_id, started_at, finished_at, outcome, error ${logged ? ", logs" : ""})
    SELECT id, attempts, worker_id, started_at, now(), 'failed', last_error ${logged ? `, ${ofJob("$5", "id")}::json` : ""}
    FROM settled
  ), dead AS (
    SELECT id, tenant, has_children FROM settled WHERE status = 'dead'
  ), ${noteParents("dead")}
  SELECT id, status, run_at, dead_reason, has_children FROM settled`;

const bothForms = (logged: boolean): Record<Form, string> => {
  const name = `settle/fail${logged ? "-logged" : ""}`;
  const parameters = [...leaseParameters, "verdicts", ...(logged ? ["logs"] : [])];
  return {
    quick: composed(name, parameters, statement(logged, "quick")),
    careful: composed(`${name}-carefully`, parameters, statement(logged, "careful")),
  };
};
const plain = bothForms(false);
const withLogs = bothForms(true);
function statementsFor(logged: boolean, params: readonly string[]): Record<Form, Statement> {
  const { quick, careful } = logged ? withLogs : plain;
  return { quick: { text: quick, params }, careful: { text: careful, params } };
}
