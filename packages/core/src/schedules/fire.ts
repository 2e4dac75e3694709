import { composed } from "../database/composed.ts";
import { jobTemplate } from "@atlasqueue/contract";
import { textArray } from "../database/literals.ts";
import type { ScheduleRow } from "../database/schema/index.ts";
import { executeOn, type Execute, type Statement } from "../database/statement.ts";
import { inTransaction, notHeldHalfSent, notHeldIdle } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { createRests } from "../room/rests.ts";
import { catchUp, type Firing } from "./catch-up.ts";
import { readCron } from "./cron/cron.ts";
import type { ScheduleRef } from "./find.ts";
import { reportEnqueued, type EnqueueOutcome, type Submission } from "../submit/outcome.ts";
import { insertOrArrive } from "../submit/enqueue.ts";
import { asFired } from "../tracing/send.ts";

/** For one call. What is left is still due, for the next one. */
const slots_of_one_max = 100;
const slots_max = 500;
const bytes_max = 4 * 1_048_576;

/** The key says what made the job, and holds even if the database's clock is set back. */
const key_ttl_seconds = 86_400;

export type FiredSlots = {
  /** Schedules that were moved on, without those locked by another process. */
  schedules: number;
  /** How many of those given there was room for, from the first on; at least one. */
  reached: number;
  /** Jobs that were made: to be signalled. */
  made: EnqueueOutcome[];
  /** There are jobs to be admitted. */
  any_pending: boolean;
};

/**
 * Give each due slot its job, as the schedules' `catch_up` says: of as many schedules as there is room for, in the order
 * given. What is to be made is worked out first, holding nothing. Then, in one transaction, the rows that nobody has
 * changed since are locked, the jobs inserted and `next_at` moved on: a slot is fired once, however many processes try.
 * Others skip the rows, and nothing else anyone wants is held: a job that asks for a group or to be unique is admitted
 * afterwards (see `arrive`). Throws when one of the schedules cannot be fired; then none was.
 *
 * @example
 * const { made } = await fireSchedules(deps, await dueSchedules(deps, 100, []));
 */
export async function fireSchedules(deps: Deps, refs: readonly ScheduleRef[]): Promise<FiredSlots> {
  const rows = await executeOn(deps.database)<DueRow>(look(refs));
  const plans = await makePlans(deps, rows);
  const reached = (rows[plans.length]?.place ?? refs.length + 1) - 1;
  const fired = plans.length === 0 ? [] : await inTransaction(deps.database, (execute) => firePlanned(execute, plans));
  for (const one of fired) tell(deps, one);
  const outcomes = fired.flatMap((one) => one.outcomes);
  const made = outcomes.filter((one) => !isPending(one));
  return { schedules: fired.length, reached, made, any_pending: made.length < outcomes.length };
}

const isPending = (one: EnqueueOutcome) => one.kind === "created" && one.job.status === "blocked";

async function firePlanned(execute: Execute, planned: readonly Plan[]): Promise<Done[]> {
  const held = await execute<{ at: number }>(hold(planned));
  const plans = held.flatMap(({ at }) => planned[at - 1] ?? []);
  if (plans.length === 0) return [];
  const outcomes = await insertOrArrive(
    execute,
    plans.flatMap((plan) => plan.submissions),
    { idempotency_ttl_seconds: key_ttl_seconds },
  );
  let from = 0;
  const done = plans.map((plan) => ({ plan, outcomes: outcomes.slice(from, (from += plan.submissions.length)) }));
  await execute(moveOn(done));
  return done;
}

type DueRow = Pick<
  ScheduleRow,
  "tenant" | "name" | "cron" | "timezone" | "catch_up" | "job" | "traceparent" | "tracestate"
> & {
  next_at: Date;
  now: Date;
  bytes: number;
  version: string;
  place: number;
};
type Plan = Firing & { row: DueRow; submissions: Submission[] };
type Done = { plan: Plan; outcomes: EnqueueOutcome[] };

const lookText = `
  SELECT tenant, name, cron, timezone, catch_up, job, next_at, traceparent, tracestate, now() AS now, octet_length(job::text) AS bytes,
         schedules.xmin::text AS version, place::int
  FROM atlasqueue.schedules JOIN unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted(tenant, name, place) USING (tenant, name)
  WHERE next_at <= now() AND paused_at IS NULL
  ORDER BY place`;

function look(refs: readonly ScheduleRef[]): Statement {
  return { text: lookText, params: [textArray(refs.map((one) => one.tenant)), textArray(refs.map((one) => one.name))] };
}

// Those another process is firing are skipped; those it has fired are other versions of their rows, as are those that
// somebody paused or changed.
const holdText = `
  SELECT place::int AS at
  FROM atlasqueue.schedules JOIN unnest($1::text[], $2::text[], $3::xid[]) WITH ORDINALITY AS planned(tenant, name, version, place) USING (tenant, name)
  WHERE schedules.xmin = planned.version AND ${notHeldIdle} AND ${notHeldHalfSent(10_000)}
  ORDER BY place FOR UPDATE OF schedules SKIP LOCKED`;

function hold(plans: readonly Plan[]): Statement {
  const column = (read: (row: DueRow) => string) => textArray(plans.map(({ row }) => read(row)));
  return {
    text: holdText,
    params: [column((row) => row.tenant), column((row) => row.name), column((row) => row.version)],
  };
}

async function makePlans(deps: Deps, rows: readonly DueRow[]): Promise<Plan[]> {
  const rest = createRests();
  const plans: Plan[] = [];
  let slots_left = slots_max;
  let bytes_left = bytes_max;
  for (const row of rows) {
    const room = Math.min(slots_of_one_max, slots_left, Math.floor(bytes_left / row.bytes));
    if (room < 1 && plans.length > 0) break;
    const firing = catchUp(row.catch_up, readCron(row.cron, row.timezone), row.next_at, row.now, Math.max(1, room));
    // Parsed again: a later version of the program may have given jobs more fields.
    const request = jobTemplate.parse(row.job);
    const { tenant, traceparent, tracestate } = row;
    const trace = traceparent === null ? undefined : { traceparent, tracestate };
    const submissions = firing.fire.map((slot) =>
      asFired(deps, { tenant, request, idempotency_key: keyOf(row, slot), trace }),
    );
    plans.push({ ...firing, row, submissions });
    slots_left -= firing.fire.length;
    bytes_left -= firing.fire.length * row.bytes;
    await rest();
  }
  return plans;
}

const keyOf = ({ name }: DueRow, slot: Date) => `schedule:${name}:${slot.toISOString()}`;

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
