import { composed } from "../database/composed.ts";
import { jobTemplate } from "@atlasqueue/contract";
import { textArray } from "../database/literals.ts";
import { type Statement, executeOn } from "../database/statement.ts";
import { inTransaction, stalledTxTimeout, idleTxTimeout } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { yieldEvery } from "../pause.ts";
import { catchUp, type Firing } from "./catch-up.ts";
import { readCron } from "./cron/cron.ts";
import { reportEnqueued, type EnqueueOutcome, type Submission } from "../submit/outcome.ts";
import { insertOrDefer } from "../submit/pending/defer-insert.ts";
import { asFired } from "../tracing/send.ts";
import type { ScheduleRow } from "../database/schema/index.ts";
import type { ScheduleRef } from "./list.ts";

type Known = "tenant" | "name" | "cron" | "timezone" | "catch_up" | "job" | "traceparent" | "tracestate";

/** A schedule as it was `now`. Its `version` is another one once anything has changed. */
export type DueSchedule = Pick<ScheduleRow, Known> & { next_at: Date; now: Date; version: string };

/** The columns of a `DueSchedule`, of the table as `known`. */
export const dueColumns = `known.tenant, known.name, cron, timezone, catch_up, job, next_at, traceparent, tracestate,
         now() AS now, known.xmin::text AS version`;

/**
 * All tenants' schedules with a slot due, except the given ones: of each tenant the longest due first, and tenants in
 * turn, as those of one may have a week to catch up with; which tenant comes first is left to chance, as those with the
 * most to catch up with are due for longest. Those that someone's transaction holds are left out: they
 * would fill the page and hide the others.
 */
export async function dueSchedules(
  deps: Pick<Deps, "database">,
  limit: number,
  but: readonly ScheduleRef[],
): Promise<readonly DueSchedule[]> {
  const params = [limit, textArray(but.map(({ tenant }) => tenant)), textArray(but.map(({ name }) => name))];
  return executeOn(deps.database)<DueSchedule>({ text: due, params });
}

const due = `
  WITH numbered AS MATERIALIZED (
    SELECT tenant, name, row_number() OVER (PARTITION BY tenant ORDER BY next_at) AS place FROM atlasqueue.schedules
    WHERE next_at <= now() AND paused_at IS NULL
      AND (tenant, name) NOT IN (SELECT * FROM unnest($2::text[], $3::text[]))
  )
  SELECT ${dueColumns} FROM numbered JOIN atlasqueue.schedules AS known USING (tenant, name)
  WHERE next_at <= now() AND paused_at IS NULL
  ORDER BY place, random() LIMIT $1::int FOR NO KEY UPDATE OF known SKIP LOCKED`;

/** In one transaction. What is left is still due, for the next one. */
const slots_max = 200;
/** Of their jobs. While more are sent, the server would take us for idle and end the transaction, at every sweep anew. */
const bytes_max = 4 * 1_048_576;

/** The key says what made the job, and holds even if the database's clock is set back. */
const key_ttl_seconds = 86_400;

export type FiredSlots = {
  /** Schedules that were moved on, without those locked or changed by another process. */
  schedules: number;
  /** Jobs that were made: to be signalled. */
  made: EnqueueOutcome[];
  /** There are jobs to be admitted. */
  any_pending: boolean;
};

/**
 * Give each due slot its job, as the schedules' `catch_up` says; each schedule has an equal share of a bounded number of
 * slots. What is to be made is worked out first, holding nothing. Then, in one transaction, the rows that nobody has
 * changed since are locked, the jobs inserted and `next_at` moved on: a slot is fired once, however many processes try.
 * Others skip the rows, and nothing else anyone wants is held: a job that asks for a group or to be unique is admitted
 * afterwards (see `deferInsert`). Throws when one of the schedules cannot be fired; then none was.
 * See decisions/2026-11-20-schedules.md.
 *
 * @example
 * const { made } = await fireSchedules(deps, await dueSchedules(deps, 100, []));
 */
export async function fireSchedules(deps: Deps, rows: readonly DueSchedule[]): Promise<FiredSlots> {
  const plans: Plan[] = [];
  const rest = yieldEvery();
  const share = Math.max(1, Math.floor(slots_max / rows.length));
  let bytes_left = bytes_max;
  for (const row of rows) {
    const bytes = JSON.stringify(row.job).length;
    const room = Math.min(share, Math.floor(bytes_left / bytes));
    if (room < 1 && plans.length > 0) break;
    const plan = planOf(deps, row, Math.max(1, room));
    plans.push(plan);
    bytes_left -= plan.fire.length * bytes;
    await rest();
  }
  const fired = await applyPlans(deps, plans);
  for (const one of fired) tell(deps, one);
  const outcomes = fired.flatMap((one) => one.outcomes);
  const made = outcomes.filter((one) => !isPending(one));
  return { schedules: fired.length, made, any_pending: made.length < outcomes.length };
}

const isPending = (one: EnqueueOutcome) => one.kind === "created" && one.job.status === "blocked";

export type Plan = Firing & { row: DueSchedule; submissions: Submission[] };
type Done = { plan: Plan; outcomes: EnqueueOutcome[] };

function planOf(deps: Deps, row: DueSchedule, share: number): Plan {
  const firing = catchUp(row.catch_up, readCron(row.cron, row.timezone), row.next_at, row.now, share);
  // Parsed again: a later version of the program may have given jobs more fields.
  const request = jobTemplate.parse(row.job);
  const { tenant, traceparent, tracestate } = row;
  const trace = traceparent === null ? undefined : { traceparent, tracestate };
  const submissions = firing.fire.map((slot) =>
    asFired(deps, { tenant, request, idempotency_key: keyOf(row, slot), trace }),
  );
  return { ...firing, row, submissions };
}

/** Carry out the plans whose schedules are as they were when they were read, in one transaction. */
export async function applyPlans({ database }: Pick<Deps, "database">, planned: readonly Plan[]): Promise<Done[]> {
  if (planned.length === 0) return [];
  return inTransaction(database, async (execute) => {
    const held = await execute<{ at: number }>(hold(planned));
    const plans = held.flatMap(({ at }) => planned[at - 1] ?? []);
    if (plans.length === 0) return [];
    const submissions = plans.flatMap((plan) => plan.submissions);
    const outcomes = await insertOrDefer(execute, submissions, { idempotency_ttl_seconds: key_ttl_seconds });
    let from = 0;
    const done = plans.map((plan) => ({ plan, outcomes: outcomes.slice(from, (from += plan.submissions.length)) }));
    await execute(moveOn(done));
    return done;
  });
}

// Those another process is firing are skipped; those it has fired are other versions of their rows, as are those that
// somebody paused or changed.
const holdText = `
  SELECT place::int AS at
  FROM atlasqueue.schedules JOIN unnest($1::text[], $2::text[], $3::xid[]) WITH ORDINALITY AS planned(tenant, name, version, place) USING (tenant, name)
  WHERE schedules.xmin = planned.version AND ${idleTxTimeout} AND ${stalledTxTimeout(10_000)}
  ORDER BY place FOR UPDATE OF schedules SKIP LOCKED`;

function hold(plans: readonly Plan[]): Statement {
  const column = (read: (row: DueSchedule) => string) => textArray(plans.map(({ row }) => read(row)));
  return {
    text: holdText,
    params: [column((row) => row.tenant), column((row) => row.name), column((row) => row.version)],
  };
}

const keyOf = ({ name }: DueSchedule, slot: Date) => `schedule:${name}:${slot.toISOString()}`;

const moveOnText = composed(
  "schedules/fire",
  ["tenants", "names", "next_ats", "slots", "job_ids"],
  `
  UPDATE atlasqueue.schedules AS known
  SET next_at = moved.next_at, last_slot_at = coalesce(moved.slot, last_slot_at), last_job_id = coalesce(moved.job_id, last_job_id)
  FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::uuid[]) AS moved(tenant, name, next_at, slot, job_id)
  WHERE known.tenant = moved.tenant AND known.name = moved.name`,
);

function moveOn(done: readonly Done[]): Statement {
  const column = (read: (one: Done) => string | undefined) => textArray(done.map(read));
  return {
    text: moveOnText,
    params: [
      column(({ plan }) => plan.row.tenant),
      column(({ plan }) => plan.row.name),
      column(({ plan }) => plan.next_at?.toISOString()),
      column(({ plan }) => plan.fire.at(-1)?.toISOString()),
      column(({ outcomes }) => jobIdOf(outcomes.at(-1))),
    ],
  };
}

const jobIdOf = (outcome: EnqueueOutcome | undefined) => (outcome && "job" in outcome ? outcome.job.id : undefined);

function tell({ observe }: Deps, { plan, outcomes }: Done): void {
  const { row, fire, missed_from, submissions } = plan;
  const about = { tenant: row.tenant, schedule: row.name };
  if (missed_from) observe({ event: "schedule_slots_missed", ...about, since: missed_from.toISOString() });
  outcomes.forEach((outcome, at) => {
    // The others are reported when they are admitted.
    if (!isPending(outcome)) reportEnqueued(observe, submissions[at] as Submission, outcome);
    const slot = fire[at] as Date;
    const late_ms = row.now.getTime() - slot.getTime();
    if (outcome.kind === "created")
      observe({ event: "schedule_fired", ...about, slot: slot.toISOString(), late_ms, job_id: outcome.job.id });
  });
}
