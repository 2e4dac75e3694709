import { composed } from "../database/composed.ts";
import type { JobStatus, Json, LogLine } from "@atlasqueue/contract";
import { executeOn, type Statement } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { aboutLease, leaseEvent, type Lease } from "../lease/lease.ts";
import { countMoves } from "../counts/changes.ts";
import { noteParents } from "../flows/note-parents.ts";
import { endInGroups, sharedOut, type LetThrough } from "../groups/advance.ts";
import { groupIsFree } from "../groups/join.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { byJob, holdsLease, leaseInput, leaseParameters, leaseParams, ofJob, textOfJob } from "../lease/fence.ts";
import { afterSome } from "../database/errors.ts";
import { settledBefore } from "./settled-before.ts";
import { impatient, isFree, lockFree, passingOverLocked, type Form } from "../database/skip-locked.ts";

/** `log` is what the handler logged, if anything. */
export type Completion = { lease: Lease; result: Json; log?: readonly LogLine[] | undefined };
/**
 * What happened to each settlement, in the order given; other jobs wait for one that `has_children`, and `ready` are those
 * of its group to be signalled. `locked`: nothing yet, as another transaction has the row of the job or of its group
 * locked; repeat it.
 */
export type SettleOutcome =
  | { kind: "applied"; has_children?: boolean; ready?: readonly ReadyJob[] }
  | { kind: "lease_lost" }
  | { kind: "locked" };

const applied: SettleOutcome = { kind: "applied" };
const applied_parent: SettleOutcome = { kind: "applied", has_children: true };

/**
 * running → succeeded, and blocked → queued | scheduled for the next jobs of their groups. Only the holder of the current
 * lease may do this; others get `lease_lost` and their result is not stored. Results must be storable (see `findFaults`).
 *
 * @example
 * const [outcome] = await complete(deps, [{ lease, result: { sent: true } }]);
 */
export async function complete(deps: Deps, completions: readonly Completion[]): Promise<SettleOutcome[]> {
  const statements = settlementOf(completions);
  const grouped = inGroups(completions);
  if (grouped.length === 0) {
    const [answer] = await passingOverLocked((form) => executeOn(deps.database)<Settlement>(statements[form]));
    return tellAll(deps, completions, answer);
  }
  const { rows, ready } = await endInGroups<Settlement>(deps, grouped, statements, ([answer]) =>
    grouped.filter(({ id }) => !answer?.refused?.includes(id)),
  );
  return tellAll(deps, completions, rows[0], ready);
}

/** The leases of those that are in groups. */
export const inGroups = (completions: readonly Completion[]): Lease[] =>
  completions.flatMap(({ lease }) => (lease.group_key === null ? [] : [lease]));

/** What became of them, by the statement's answer. */
export async function tellAll(
  deps: Deps,
  completions: readonly Completion[],
  answer: Settlement | undefined,
  ready?: readonly LetThrough[],
): Promise<SettleOutcome[]> {
  const leases = completions.map(({ lease }) => lease);
  const refused = new Set(answer?.refused);
  const parents = new Set(answer?.parents);
  const before = await settledBefore(
    deps,
    leases.filter(({ id }) => refused.has(id)),
  ).catch(afterSome(refused.size < leases.length));
  const readyAfter = ready && sharedOut(leases, ready);
  return leases.map((lease) => {
    const status = refused.has(lease.id) ? before.get(lease.id)?.status : "succeeded";
    return tellSettled(deps, lease, status, parents.has(lease.id), readyAfter);
  });
}

/** What the statement answers: the jobs it did not settle, and those it did that have children. */
export type Settlement = { refused: string[] | null; parents: string[] | null };

/** The statement that settles them, in both its forms. */
export function settlementOf(completions: readonly Completion[]): Record<Form, Statement> {
  const { kind, params } = settlementParams(completions);
  const forms = statementsFor(kind);
  return { quick: { text: forms.quick, params }, careful: { text: forms.careful, params } };
}

/** What a batch of jobs has, and so which statement settles it, and that statement's parameters. */
function settlementParams(completions: readonly Completion[]): { kind: Kind; params: string[] } {
  const leases = completions.map(({ lease }) => lease);
  const with_results = completions.some(({ result }) => result !== null);
  const results = with_results ? [byJob(leases, (at) => resultOf(completions[at]))] : [];
  const logged = completions.some(({ log }) => log);
  const logs = logged ? [byJob(leases, (at) => completions[at]?.log)] : [];
  const grouped = leases.some(({ group_key }) => group_key !== null);
  return { kind: { grouped, logged, with_results }, params: [...leaseParams(leases), ...results, ...logs] };
}

function resultOf(completion: Completion | undefined): string | undefined {
  const result = completion?.result ?? null;
  return result === null ? undefined : JSON.stringify(result);
}

/** What became of a settlement, by the status its job has under this lease. */
export function tellSettled(
  { observe }: Pick<Deps, "observe">,
  lease: Lease,
  status: JobStatus | undefined,
  has_children: boolean,
  readyAfter?: (lease: Lease) => readonly ReadyJob[],
): SettleOutcome {
  if (status === "running") return { kind: "locked" };
  if (status !== "succeeded") {
    observe({ event: "lease_lost", during: "settling", ...aboutLease(lease) });
    return { kind: "lease_lost" };
  }
  observe(leaseEvent("job_succeeded", lease));
  const ready = readyAfter?.(lease) ?? [];
  if (ready.length > 0) return { kind: "applied", has_children, ready };
  return has_children ? applied_parent : applied;
}

// The answer names only the refused ones, mostly none: naming the others would take a row per job, and even to look for
// them costs, so they are counted first. An attempt that logged nothing leaves no row. Without results none is looked
// for: even that is 2 % of a settlement.
const settling = (kind: Kind, form: Form) => `
  WITH ${settledPart(kind, form)}, ${countMoves("settled", "running", "succeeded")}
  ${answerOf}`;

const inFreeGroup = `(group_key IS NULL OR ${groupIsFree("jobs")})`;

/** A part of a WITH, `settled`: the jobs that are settled. */
const settledPart = ({ grouped, logged, with_results }: Kind, form: Form) => `
  ${form === "careful" ? `held AS MATERIALIZED (SELECT jobs.id FROM atlasqueue.jobs WHERE ${holdsLease}), ${lockFree("held", grouped ? inFreeGroup : undefined)},` : ""} settled AS (
    UPDATE atlasqueue.jobs SET status = 'succeeded', finished_at = now(), updated_at = now(), locked_until = NULL, last_error = NULL,
                    ${grouped ? "active_group_key = NULL," : ""} result = ${with_results ? `${textOfJob("$4")}::json` : "NULL"}
    WHERE ${form === "careful" ? isFree : impatient} AND ${holdsLease}
    RETURNING jobs.id, tenant, queue, has_children ${logged ? ", attempts, worker_id, started_at" : ""}
  ), ${noteParents("settled")} ${logged ? `, ${history(with_results ? "$5" : "$4")}` : ""}`;

/** The end of the statement: a `Settlement`. */
const answerOf = `SELECT json_agg(input.id) AS refused, (SELECT json_agg(job_id) FROM noted_parents) AS parents FROM ${leaseInput}
  WHERE (SELECT count(*) FROM settled) < cardinality($1::uuid[]) AND input.id NOT IN (SELECT id FROM settled)`;

const history = (logs: string) => `history AS (
    INSERT INTO atlasqueue.job_attempts (job_id, attempt, worker_id, started_at, finished_at, outcome, logs)
    SELECT id, attempts, worker_id, started_at, now(), 'succeeded', ${ofJob(logs, "id")}::json
    FROM settled WHERE ${ofJob(logs, "id")} IS NOT NULL
  )`;

/** What the jobs of a batch, or some of them, have. */
type Kind = { grouped: boolean; logged: boolean; with_results: boolean };

const nameOf = ({ grouped, logged, with_results }: Kind) =>
  `settle/complete${grouped ? "-grouped" : ""}${logged ? "-logged" : ""}${with_results ? "" : "-empty"}`;

/** The names of what `settlementParams` returns. */
const settlementParameters = ({ with_results, logged }: Kind) => [
  ...leaseParameters,
  ...(with_results ? ["results"] : []),
  ...(logged ? ["logs"] : []),
];

function bothForms(kind: Kind): Record<Form, string> {
  const name = nameOf(kind);
  const parameters = settlementParameters(kind);
  return {
    quick: composed(name, parameters, settling(kind, "quick")),
    careful: composed(`${name}-carefully`, parameters, settling(kind, "careful")),
  };
}

const yesOrNo = [false, true];
const statements = new Map(
  yesOrNo.flatMap((grouped) =>
    yesOrNo.flatMap((logged) =>
      yesOrNo.map((with_results) => {
        const kind = { grouped, logged, with_results };
        return [nameOf(kind), bothForms(kind)] as const;
      }),
    ),
  ),
);

function statementsFor(kind: Kind): Record<Form, string> {
  return statements.get(nameOf(kind)) ?? bothForms(kind);
}
