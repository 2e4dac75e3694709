import { limits, type Json } from "@atlasqueue/contract";
import { countChanges } from "../counts/changes.ts";
import { composed } from "../database/composed.ts";
import type { JobRow } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { aboutLease } from "../lease/lease.ts";
import { withJobLocked } from "../jobs/lock-job.ts";
import { isHeld, type HeldJob } from "./store.ts";

export type ParkOutcome =
  /** It is held no more; it becomes ready when the signal comes, or then. */
  | { kind: "parked"; until: Date; queue: string }
  /** The signal is there: the job goes on. */
  | { kind: "signalled"; payload: Json }
  /** The time for it was over before it came, and a later one does not count: the job goes on. */
  | { kind: "timed_out" }
  /** It has waited for as many signals as a job may wait for. */
  | { kind: "full" }
  | { kind: "lease_lost" }
  | { kind: "unknown" };

type Row = Pick<JobRow, "type" | "queue" | "attempts"> & {
  worker_id: string;
  held: boolean;
  parked: boolean;
  signalled: boolean;
  payload: Json;
  over: boolean;
  has_room: boolean;
  until: Date;
};

/**
 * running → scheduled, for a job whose handler waits for a signal that is not there yet: no attempt is spent, its lease
 * ends, and it keeps its turn in its group. The time counts from the first time it was parked for this signal, however
 * often it runs in between. Repeated under the same lease it changes nothing. Throws after 200 ms (`isLocked`) while
 * another transaction has the job locked.
 * See decisions/2026-11-22-steps.md.
 *
 * @example
 * const outcome = await park(deps, lease, "approved", 86_400);
 */
export async function park(deps: Deps, job: HeldJob, name: string, timeout_seconds: number): Promise<ParkOutcome> {
  const params = [job.id, job.tenant, job.lease_token, name, timeout_seconds];
  const row = await withJobLocked<Row>(deps, job, { text, params });
  if (!row) return { kind: "unknown" };
  const { until, type, queue, attempts, worker_id } = row;
  if (row.parked) return { kind: "parked", until, queue };
  if (!row.held) return { kind: "lease_lost" };
  if (row.signalled) return { kind: "signalled", payload: row.payload };
  if (!row.has_room) return { kind: "full" };
  if (row.over) return { kind: "timed_out" };
  const about = aboutLease({ ...job, type, queue, attempts, worker_id });
  deps.observe({ event: "job_parked", ...about, waits_for: name, until: until.toISOString() });
  return { kind: "parked", until, queue };
}

// A wait that is over changes the row as well, so that a signal is either seen here or refused as late: the handler may
// already have acted on the one, and must not get the other when it runs again, even if the clock was set back.
const text = composed(
  "steps/park",
  ["id", "tenant", "lease_token", "name", "timeout_seconds"],
  `
  WITH found AS MATERIALIZED (
    SELECT jobs.id, jobs.type, jobs.queue, jobs.attempts, jobs.worker_id, ${isHeld} AS held,
           coalesce(jobs.status = 'scheduled' AND jobs.waits_for = $4 AND jobs.lease_token = $3::uuid, false) AS parked,
           sent.name IS NOT NULL AS signalled, sent.value AS payload, coalesce(wait.timeout_delivered OR wait.until <= now(), false) AS over,
           coalesce(wait.until, now() + make_interval(secs => $5::float8)) AS until,
           wait.name IS NOT NULL OR (SELECT count(*) < ${limits.waits_max} FROM atlasqueue.job_state WHERE job_id = jobs.id AND kind = 'wait') AS has_room
    FROM atlasqueue.jobs
    LEFT JOIN atlasqueue.job_state AS sent ON sent.job_id = jobs.id AND sent.kind = 'signal' AND sent.name = $4
    LEFT JOIN atlasqueue.job_state AS wait ON wait.job_id = jobs.id AND wait.kind = 'wait' AND wait.name = $4
    WHERE jobs.id = $1::uuid AND jobs.tenant = $2
  ), goes AS MATERIALIZED (
    SELECT id, over, until FROM found WHERE held AND NOT signalled AND has_room
  ), moved AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN over THEN 'running' ELSE 'scheduled' END, waits_for = CASE WHEN NOT over THEN $4 END,
                    run_at = CASE WHEN over THEN run_at ELSE until END, due_at = CASE WHEN NOT over THEN until END,
                    attempts = CASE WHEN over THEN attempts ELSE attempts - 1 END, expires_at = NULL,
                    locked_until = CASE WHEN over THEN locked_until END, worker_id = CASE WHEN over THEN worker_id END,
                    has_steps = true, updated_at = now()
    FROM goes WHERE jobs.id = goes.id
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.status
  ), parked AS (
    SELECT * FROM moved WHERE status = 'scheduled'
  ), waiting AS (
    INSERT INTO atlasqueue.job_state AS known (tenant, job_id, kind, name, at, until, timeout_delivered)
    SELECT $2, id, 'wait', $4, now(), until, CASE WHEN over THEN true END FROM goes
    ON CONFLICT (job_id, kind, name) DO UPDATE SET timeout_delivered = true
    WHERE excluded.timeout_delivered AND known.timeout_delivered IS NULL
  ), ${countChanges("parked", { running: "-count(*)", scheduled: "count(*)" })}
  SELECT type, queue, attempts, worker_id, held, parked, signalled, payload, over, until, has_room FROM found`,
);
