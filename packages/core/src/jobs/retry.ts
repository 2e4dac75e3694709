import { composed } from "../database/composed.ts";
import type { JobStatus } from "@atlasqueue/contract";
import { lockTimeout } from "../database/clauses.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { JobRow } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { transition } from "../tracing/send.ts";
import { startAnew } from "./start-anew.ts";

export type RetryOutcome =
  /** Signal it if it is queued, not blocked by its group; `was_dead` means that it is no longer a dead letter. */
  | { kind: "retried"; job: JobRow; was: JobStatus; was_dead: boolean }
  | { kind: "not_retryable"; job: JobRow }
  | { kind: "unknown" };

/**
 * dead | cancelled | failed → queued (or blocked, in a group), now and as if it were new: no attempts spent, no result
 * or error left. What happened before stays in its history. It does without those of its parents that have failed. Throws
 * after 200 ms (`isLocked`) while another transaction has the job, its group or what is the job's locked.
 *
 * @example
 * const outcome = await retry(deps, "default", id);
 */
export async function retry(deps: Deps, tenant: string, id: string): Promise<RetryOutcome> {
  const outcome = await transition(deps, "retry", {}, () => retryWith(executeOn(deps.database), tenant, id));
  tellRetried(deps, outcome);
  return outcome;
}

/** The same as part of a transaction; `was` is the status it had. */
export async function retryWith(execute: Execute, tenant: string, id: string): Promise<RetryOutcome> {
  const [row] = await execute<JobRow & { was: JobStatus }>({ text, params: [id, tenant] });
  if (!row) return { kind: "unknown" };
  const { was, ...job } = row;
  if (!isRetryable(was)) return { kind: "not_retryable", job };
  return { kind: "retried", job, was, was_dead: was === "dead" };
}

/** Reported when it is committed. */
export function tellRetried({ observe }: Deps, outcome: { kind: string } | RetryOutcome): void {
  if (!("was" in outcome)) return;
  const { job, was } = outcome;
  observe({ event: "job_retried", job_id: job.id, job_type: job.type, queue: job.queue, tenant: job.tenant, was });
}

const stopped: readonly JobStatus[] = ["dead", "cancelled", "failed"];
export const isRetryable = (status: JobStatus): boolean => stopped.includes(status);
export const isStopped = `status IN (${stopped.map((status) => `'${status}'`).join(", ")})`;

// The row is locked first, so that the old status is the one the UPDATE found. A job that may not be retried is
// returned as it is.
const text = composed(
  "jobs/retry",
  ["id", "tenant"],
  `
  WITH found AS MATERIALIZED (
    SELECT * FROM atlasqueue.jobs WHERE id = $1::uuid AND tenant = $2 AND ${lockTimeout} FOR UPDATE
  ), stopped AS MATERIALIZED (
    SELECT * FROM found WHERE ${isStopped}
  ), ${startAnew("stopped", "jobs.*")}
  SELECT * FROM queued
  UNION ALL
  SELECT found.*, found.status AS was FROM found WHERE id NOT IN (SELECT id FROM stopped)`,
);
