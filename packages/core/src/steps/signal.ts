import { limits, type JobStatus, type Json, stepName, storableResult } from "@atlasqueue/contract";
import { countChanges } from "../counts/changes.ts";
import { composed } from "../database/composed.ts";
import type { JobRow } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { transition } from "../tracing/send.ts";
import { bytesOf } from "../memory-budget/bytes.ts";
import { withJobLocked } from "../jobs/lock-job.ts";
import type { ReadyJob } from "../signal/signal.ts";

export type SignalOutcome =
  /** It is kept. `job` as it is now; `woken`: it waited for this, and is queued: signal it to the workers. */
  | { kind: "sent"; job: JobRow; woken: boolean }
  /** One of this name was sent before, and that counts. */
  | { kind: "sent_before"; job: JobRow }
  /** The job has waited for it, and the time was over before it came. */
  | { kind: "too_late"; job: JobRow }
  /** It was sent as many signals as a job may be sent, or they are too large together. */
  | { kind: "full" }
  | { kind: "finished"; status: JobStatus }
  | { kind: "unknown" };

type Facts = {
  finished: boolean;
  known: boolean;
  late: boolean;
  /** It was kept; null if it was refused. */
  woken: boolean | null;
};

/**
 * Send a signal to a job that is not final. Whether it waits for it now (scheduled → queued), does so later or never:
 * it is kept with the job. Throws after 200 ms (`isLocked`) while another transaction has the job locked.
 *
 * @example
 * const outcome = await sendSignal(deps, "default", id, "approved", { by: "ada" });
 */
export async function sendSignal(
  deps: Deps,
  tenant: string,
  id: string,
  name: string,
  payload: Json,
): Promise<SignalOutcome> {
  const params = [id, tenant, name, JSON.stringify(payload)];
  const row = await transition(deps, "signal", {}, () =>
    withJobLocked<JobRow & Facts>(deps, { id, tenant }, { text, params }),
  );
  const outcome: SignalOutcome = row ? outcomeOf(row) : { kind: "unknown" };
  if (outcome.kind === "sent") {
    const { job, woken } = outcome;
    const about = { job_id: job.id, job_type: job.type, queue: job.queue, tenant: job.tenant };
    deps.observe({ event: "job_signalled", ...about, signal: name, woken });
  }
  return outcome;
}

function outcomeOf({ finished, known, late, woken, ...job }: JobRow & Facts): SignalOutcome {
  if (woken !== null) return { kind: "sent", job, woken };
  if (known) return { kind: "sent_before", job };
  if (finished) return { kind: "finished", status: job.status };
  return late ? { kind: "too_late", job } : { kind: "full" };
}

const text = composed(
  "steps/signal",
  ["id", "tenant", "name", "payload"],
  `
  WITH found AS MATERIALIZED (
    SELECT jobs.id, coalesce(jobs.status = 'scheduled' AND jobs.waits_for = $3, false) AS wakes,
           jobs.status IN ('succeeded', 'dead', 'cancelled') AS finished, same.name IS NOT NULL AS known,
           coalesce(wait.timeout_delivered OR wait.until <= now(), false) AS late, (
      SELECT count(*) < ${limits.signals_max} AND coalesce(sum(${bytesOf("value")}), 0) + octet_length($4) <= ${limits.signals_bytes_max}
      FROM atlasqueue.job_state WHERE job_id = jobs.id AND kind = 'signal') AS has_room
    FROM atlasqueue.jobs
    LEFT JOIN atlasqueue.job_state AS same ON same.job_id = jobs.id AND same.kind = 'signal' AND same.name = $3
    LEFT JOIN atlasqueue.job_state AS wait ON wait.job_id = jobs.id AND wait.kind = 'wait' AND wait.name = $3
    WHERE jobs.id = $1::uuid AND jobs.tenant = $2
  ), goes AS MATERIALIZED (
    SELECT id, wakes FROM found WHERE NOT (finished OR known OR late) AND has_room
  ), touched AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN wakes THEN 'queued' ELSE status END, waits_for = CASE WHEN NOT wakes THEN waits_for END,
                    ready_at = CASE WHEN wakes THEN now() ELSE ready_at END, due_at = CASE WHEN NOT wakes THEN due_at END,
                    run_at = CASE WHEN wakes THEN now() ELSE run_at END, has_steps = true, updated_at = now()
    FROM goes WHERE jobs.id = goes.id
    RETURNING jobs.*, wakes AS woken
  ), kept AS (
    INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at) SELECT $2, id, 'signal', $3, $4::json, now() FROM goes
  ), woken AS (
    SELECT tenant, queue FROM touched WHERE woken
  ), ${countChanges("woken", { scheduled: "-count(*)", queued: "count(*)" })}
  SELECT touched.*, finished, known, late FROM touched JOIN found ON found.id = touched.id
  UNION ALL
  SELECT jobs.*, NULL, finished, known, late FROM atlasqueue.jobs JOIN found ON found.id = jobs.id
  WHERE NOT EXISTS (SELECT FROM touched)`,
);

/** A signal's payload as it is stored. Throws a TypeError for a name or a payload that cannot be. */
export function ownSignal(name: string, payload: Json | undefined): Json {
  if (!stepName.safeParse(name).success) throw new TypeError(`the name of a signal must be ${stepName.description}`);
  const checked = storableResult(payload);
  if (checked.kind === "refused")
    throw new TypeError("the payload of a signal must be JSON", { cause: checked.reason });
  return checked.result;
}

export const queueSignal =
  (deps: Deps, followUps: { woken(job: ReadyJob): Promise<void> }, tenant: string) =>
  async (id: string, name: string, payload?: Json): Promise<SignalOutcome["kind"]> => {
    const outcome = await sendSignal(deps, tenant, id, name, ownSignal(name, payload));
    if (outcome.kind === "sent" && outcome.woken) await followUps.woken(outcome.job);
    return outcome.kind;
  };
