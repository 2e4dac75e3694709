import { limits, type Json } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import type { Deps } from "../deps.ts";
import { bytesOf } from "../memory-budget/bytes.ts";
import { withJobLocked } from "../jobs/lock-job.ts";

/** The fence, for one job whose token is the third parameter. */
export const isHeld = "coalesce(jobs.status = 'running' AND jobs.lease_token = $3::uuid, false)";

/** A job as its holder names it: with the secret of its lease. */
export type HeldJob = { id: string; tenant: string; lease_token: string };

export type StoreStepOutcome =
  /** With what is stored: the result of the first who stored it. */
  | { kind: "stored"; result: Json }
  /** It has as many steps as a job may have, or their results are too large together. */
  | { kind: "full" }
  | { kind: "lease_lost" }
  | { kind: "unknown" };

type Row = { held: boolean; known: boolean; has_room: boolean; result: Json };

/**
 * Keep the result of a step, so that no later attempt does it again. Only the holder of the current lease may. Repeated,
 * as its answer may get lost, it changes nothing and answers the same. Throws after 200 ms (`isLocked`) while another
 * transaction has the job locked.
 *
 * @example
 * const outcome = await storeStep(deps, lease, "charge", { charge_id: "ch_17" });
 */
export async function storeStep(deps: Deps, job: HeldJob, name: string, result: Json): Promise<StoreStepOutcome> {
  const params = [job.id, job.tenant, job.lease_token, name, JSON.stringify(result)];
  const row = await withJobLocked<Row>(deps, job, { text, params });
  if (!row) return { kind: "unknown" };
  if (!row.held) return { kind: "lease_lost" };
  if (row.known) return { kind: "stored", result: row.result };
  return row.has_room ? { kind: "stored", result } : { kind: "full" };
}

const text = composed(
  "steps/store",
  ["id", "tenant", "lease_token", "name", "result"],
  `
  WITH found AS MATERIALIZED (
    SELECT jobs.id, ${isHeld} AS held, same.name IS NOT NULL AS known, same.value AS result, (
      SELECT count(*) < ${limits.steps_max} AND coalesce(sum(${bytesOf("value")}), 0) + octet_length($5) <= ${limits.steps_bytes_max}
      FROM atlasqueue.job_state WHERE job_id = jobs.id AND kind = 'step') AS has_room
    FROM atlasqueue.jobs
    LEFT JOIN atlasqueue.job_state AS same ON same.job_id = jobs.id AND same.kind = 'step' AND same.name = $4
    WHERE jobs.id = $1::uuid AND jobs.tenant = $2
  ), marked AS (
    UPDATE atlasqueue.jobs SET has_steps = true, updated_at = now() FROM found
    WHERE jobs.id = found.id AND held AND has_room AND NOT known
    RETURNING jobs.id, jobs.attempts
  ), stored AS (
    INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at, attempt)
    SELECT $2, id, 'step', $4, $5::json, now(), attempts FROM marked
  )
  SELECT held, known, result, has_room FROM found`,
);
