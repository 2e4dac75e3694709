import { jobTemplate } from "@atlasqueue/contract";
import { textArray } from "../database/literals.ts";
import type { ScheduleRow } from "../database/schema.ts";
import { executeOn, type Statement } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { catchUp, type Firing } from "../policy/catch-up.ts";
import { readCron } from "../policy/cron.ts";
import type { ScheduleRef } from "../queries/find-schedule.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { readyAmong, type EnqueueOutcome, type Submission } from "./enqueue-outcome.ts";
import { enqueue } from "./enqueue.ts";

/** Of one call. What is left is still due, and the next one's. */
const slots_of_one_max = 100;
const slots_max = 500;
const bytes_max = 4 * 1_048_576;

/** The key says who made the job, and holds even where the database's clock was set back. */
const key_ttl_seconds = 86_400;

export type FiredSlots = {
  /** Schedules that were moved on; those that another process moved on before are not among them. */
  schedules: number;
  /** Jobs to signal. */
  ready: ReadyJob[];
};

/**
 * Give each slot that has come its job, as the schedules' `catch_up` says: a look, the jobs, and then `next_at` is moved
 * on where it is still what it was. No transaction, and so no lock while this process does something else: a slot is
 * fired once, however many processes try and wherever one dies, as its job's key is made of the schedule and the slot.
 * Throws when one of the schedules cannot be fired; others may have been then.
 *
 * @example
 * const { ready } = await fireSchedules(deps, await dueSchedules(deps, 100, []));
 */
export async function fireSchedules(deps: Deps, refs: readonly ScheduleRef[]): Promise<FiredSlots> {
  const execute = executeOn(deps.database);
  const plans = makePlans(await execute<DueRow>(look(refs)));
  if (plans.length === 0) return { schedules: 0, ready: [] };
  const submissions = plans.flatMap((plan) => plan.submissions);
  const outcomes = await enqueue(deps, submissions, { idempotency_ttl_seconds: key_ttl_seconds });
  let from = 0;
  const done = plans.map((plan) => ({ plan, outcomes: outcomes.slice(from, (from += plan.submissions.length)) }));
  const moved = await execute<ScheduleRef>(moveOn(done));
  const names = new Set(moved.map(nameOf));
  for (const one of done) tell(deps, one, names.has(nameOf(one.plan.row)));
  return { schedules: moved.length, ready: readyAmong(outcomes) };
}

type DueRow = Pick<ScheduleRow, "tenant" | "name" | "cron" | "timezone" | "catch_up" | "job"> & {
  next_at: Date;
  now: Date;
  bytes: number;
};
type Plan = Firing & { row: DueRow; submissions: Submission[] };
type Done = { plan: Plan; outcomes: EnqueueOutcome[] };

const lookText = `
  SELECT tenant, name, cron, timezone, catch_up, job, next_at, now() AS now, octet_length(job::text) AS bytes
  FROM schedules
  WHERE (tenant, name) IN (SELECT * FROM unnest($1::text[], $2::text[])) AND next_at <= now() AND paused_at IS NULL
  ORDER BY next_at`;

function look(refs: readonly ScheduleRef[]): Statement {
  return { text: lookText, params: [textArray(refs.map((one) => one.tenant)), textArray(refs.map((one) => one.name))] };
}

function makePlans(rows: readonly DueRow[]): Plan[] {
  const plans: Plan[] = [];
  let slots_left = slots_max;
  let bytes_left = bytes_max;
  for (const row of rows) {
    const room = Math.min(slots_of_one_max, slots_left, Math.floor(bytes_left / row.bytes));
    if (room < 1 && plans.length > 0) break;
    const firing = catchUp(row.catch_up, readCron(row.cron, row.timezone), row.next_at, row.now, Math.max(1, room));
    // Parsed again: a version of the program that came later may have given a job more fields.
    const request = jobTemplate.parse(row.job);
    const submissions = firing.fire.map((slot) => ({ tenant: row.tenant, request, idempotency_key: keyOf(row, slot) }));
    plans.push({ ...firing, row, submissions });
    slots_left -= firing.fire.length;
    bytes_left -= firing.fire.length * row.bytes;
  }
  return plans;
}

const keyOf = ({ name }: DueRow, slot: Date) => `schedule:${name}:${slot.toISOString()}`;

const moveOnText = `
  UPDATE schedules AS known
  SET next_at = moved.next_at, last_slot_at = coalesce(moved.slot, last_slot_at), last_job_id = coalesce(moved.job_id, last_job_id)
  FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::uuid[], $6::timestamptz[])
    AS moved(tenant, name, next_at, slot, job_id, seen)
  WHERE known.tenant = moved.tenant AND known.name = moved.name AND known.next_at = moved.seen AND known.paused_at IS NULL
  RETURNING known.tenant, known.name`;

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
      column(({ plan }) => plan.row.next_at.toISOString()),
    ],
  };
}

const jobIdOf = (outcome: EnqueueOutcome | undefined) => (outcome && "job" in outcome ? outcome.job.id : undefined);

const nameOf = ({ tenant, name }: ScheduleRef) => JSON.stringify([tenant, name]);

function tell({ observe }: Deps, { plan, outcomes }: Done, moved: boolean): void {
  const { row, fire, missed_from } = plan;
  const about = { tenant: row.tenant, schedule: row.name };
  if (missed_from && moved) observe({ event: "schedule_slots_missed", ...about, since: missed_from.toISOString() });
  outcomes.forEach((outcome, at) => {
    const slot = fire[at] as Date;
    const late_ms = row.now.getTime() - slot.getTime();
    if (outcome.kind === "created")
      observe({ event: "schedule_fired", ...about, slot: slot.toISOString(), late_ms, job_id: outcome.job.id });
  });
}
