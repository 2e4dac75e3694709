import type { JobStatus } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { afterSome, isLocked } from "../database/errors.ts";
import { uuidArray } from "../database/literals.ts";
import { replicated, asyncCommit } from "../database/clauses.ts";
import type { JobRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { endInGroups, sharedOut, type LetThrough } from "../groups/advance.ts";
import { groupIsFree } from "../groups/join.ts";
import { leaseInput, leaseParameters, leaseParams } from "../lease/fence.ts";
import { aboutLease, leaseEvent, type Lease } from "../lease/lease.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { settlementOf, type Completion, type Failure, type Settlement, type Settling } from "./statement.ts";

export type { Completion, Failure } from "./statement.ts";

/** `ready` are the next jobs of its group, to be signalled; children wait for a job that `has_children`. */
type Ended = { has_children?: boolean; ready?: readonly ReadyJob[] };
/** `locked`: nothing happened yet, as another transaction has the job or its group locked; repeat it. */
type NotSettled = { kind: "lease_lost" } | { kind: "locked" };
export type SettleOutcome = ({ kind: "applied" } & Ended) | NotSettled;
export type FailOutcome = { kind: "retrying"; run_at: Date } | ({ kind: "dead" } & Ended) | NotSettled;
type Outcome = SettleOutcome | FailOutcome;

/**
 * running → succeeded, and blocked → queued | scheduled for the next jobs of their groups. Only the holder of the current
 * lease may do this; others get `lease_lost` and their result is not stored. Repeated, as its answer may get lost, it
 * changes nothing and returns the same. Results must be storable (see `findFaults`). Outcomes are in the order given.
 *
 * @example
 * const [outcome] = await complete(deps, [{ lease, result: { sent: true } }]);
 */
export const complete = (deps: Deps, completions: readonly Completion[]): Promise<SettleOutcome[]> =>
  settle(deps, completions) as Promise<SettleOutcome[]>;

/**
 * running → failed (until `run_at`) or dead, as the verdict says; after a dead one the next of its group may go. The
 * attempt goes to the history in the same statement. Otherwise like `complete`.
 *
 * @example
 * const verdict = verdictAfterFailure({ ...lease, retryable: true }, policy, Math.random());
 * const [outcome] = await fail(deps, [{ lease, error: errorText(thrown), verdict }]);
 */
export const fail = (deps: Deps, failures: readonly Failure[]): Promise<FailOutcome[]> =>
  settle(deps, failures) as Promise<FailOutcome[]>;

/**
 * Settle jobs that run under their leases, successes and failures alike. Outcomes are in the order given. A batch that
 * waits 200 ms for a lock is refused. It is sent once more, without the jobs that are locked.
 */
async function settle(deps: Deps, settlings: readonly Settling[]): Promise<Outcome[]> {
  try {
    return await settleTogether(deps, settlings);
  } catch (error) {
    if (!isLocked(error)) throw error;
  }
  if (settlings.length === 1) return [{ kind: "locked" }];
  const params = [uuidArray(settlings.map(({ lease }) => lease.id))];
  const rows = await executeOn(deps.database)<{ id: string }>({ text: free, params });
  const are_free = new Set(rows.map(({ id }) => id));
  const rest = settlings.filter(({ lease }) => are_free.has(lease.id));
  const outcomes = rest.length === 0 ? [] : await settleTogether(deps, rest).catch(unlessLocked);
  const byId = new Map(outcomes.map((outcome, at) => [rest[at]?.lease.id, outcome]));
  return settlings.map(({ lease }) => byId.get(lease.id) ?? { kind: "locked" });
}

function unlessLocked(error: unknown): Outcome[] {
  if (isLocked(error)) return [];
  throw error;
}

async function settleTogether(deps: Deps, settlings: readonly Settling[]): Promise<Outcome[]> {
  const { answer, through } = await endInGroups<Settlement>(deps, settlementOf(settlings), groupsOf(settlings));
  return reportOutcomes(deps, settlings, answer, through);
}

/** The leases of those that are in groups whose next job may go. */
export const groupsOf = (settlings: readonly Settling[]): Lease[] =>
  settlings.flatMap((one) =>
    one.lease.group_key === null || ("verdict" in one && one.verdict.kind === "retry") ? [] : [one.lease],
  );

/**
 * What became of jobs, by the statement's answer. Those it refused are looked up: one that was settled under this very
 * lease, and whose answer was lost, gets the same outcome again.
 */
export async function reportOutcomes(
  deps: Deps,
  settlings: readonly Settling[],
  answer: Settlement | undefined,
  through: readonly LetThrough[] = [],
): Promise<Outcome[]> {
  const leases = settlings.map(({ lease }) => lease);
  const refused = new Set(answer?.refused);
  const parents = new Set(answer?.parents);
  const failed = new Map(answer?.failed?.map((row) => [row.id, row]));
  const before = await settledBefore(
    deps,
    leases.filter(({ id }) => refused.has(id)),
  ).catch(afterSome(refused.size < leases.length));
  const readyAfter = sharedOut(through);
  return settlings.map((one): Outcome => {
    const { id } = one.lease;
    const row = refused.has(id) ? before.get(id) : (failed.get(id) ?? succeeded);
    // A repetition, too, lets jobs through that were locked when it was sent first.
    const ready = row ? readyAfter(one.lease) : [];
    const has_children = refused.has(id) ? undefined : parents.has(id);
    return tellOne(deps, one, row, has_children, ready.length > 0 ? ready : undefined);
  });
}

type Row = { status: JobStatus; run_at?: Date | string; dead_reason?: string | null; has_children?: boolean | null };
const succeeded: Row = { status: "succeeded" };
const applied: SettleOutcome = { kind: "applied" };

/** The outcome of one, by its row under this lease. One that failed may be due again by now. */
function tellOne(
  { observe }: Deps,
  one: Settling,
  row: Row | undefined,
  has_children = row?.has_children ?? false,
  ready?: readonly ReadyJob[],
): Outcome {
  const { lease } = one;
  if (!("verdict" in one)) {
    if (row?.status === "succeeded") {
      observe(leaseEvent("job_succeeded", lease));
      return has_children || ready ? { kind: "applied", has_children, ...(ready && { ready }) } : applied;
    }
  } else if (row?.status === "dead") {
    observe({ event: "job_dead", ...aboutLease(lease), error: one.error, reason: row.dead_reason ?? "" });
    return { kind: "dead", has_children, ...(ready && { ready }) };
  } else if (row?.run_at && (row.status === "failed" || row.status === "queued")) {
    const retry_in_ms = one.verdict.kind === "retry" ? one.verdict.delay_ms : 0;
    observe({ event: "job_failed", ...aboutLease(lease), error: one.error, retry_in_ms });
    return { kind: "retrying", run_at: new Date(row.run_at) };
  }
  observe({ event: "lease_lost", during: "settling", ...aboutLease(lease) });
  return { kind: "lease_lost" };
}

type SettledJob = Pick<JobRow, "id" | "status" | "run_at" | "dead_reason" | "has_children">;

/**
 * Of the jobs whose settlement was refused, those settled under these very leases: the first answer was lost, and its
 * repetition must return the same. A job keeps its token until it is claimed again, so one that failed and has since
 * become ready is recognized too; recovery and release take the token away. A separate statement, as the refused one's
 * snapshot may be older than the first settlement's commit.
 */
async function settledBefore({ database }: Deps, leases: readonly Lease[]): Promise<Map<string, SettledJob>> {
  if (leases.length === 0) return new Map();
  const rows = await executeOn(database)<SettledJob>({ text: find, params: leaseParams(leases) });
  return new Map(rows.map((row) => [row.id, row]));
}

const find = composed(
  "settle/settled-before",
  [...leaseParameters],
  `
  SELECT jobs.id, status, run_at, dead_reason, has_children, ${replicated} FROM ${leaseInput} JOIN atlasqueue.jobs ON jobs.id = input.id
  WHERE lease_token = ($3::uuid[])[input.token]`,
);

// It locks what is free for a moment, which is the only way to know.
const free = composed(
  "settle/free",
  ["ids"],
  `
  SELECT id FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND ${asyncCommit} AND (group_key IS NULL OR ${groupIsFree("jobs")})
  FOR NO KEY UPDATE SKIP LOCKED`,
);
