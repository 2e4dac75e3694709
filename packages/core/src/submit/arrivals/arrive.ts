import { composed } from "../../database/composed.ts";
import type { Unique } from "@atlasqueue/contract";
import type { JobRow } from "../../database/schema/index.ts";
import type { Execute } from "../../database/statement.ts";
import { countChanges } from "../../counts/changes.ts";
import { newRow } from "../drafts.ts";
import { input, inputParams, type Draft, inputParameters } from "../insert-jobs.ts";
import { uniqueNameOf } from "../unique/plan.ts";

/**
 * (nothing) → blocked, as an arrival: a job that asks for what others may want too, in a transaction that is not ours.
 * It only inserts, and nothing that another transaction could wait for, as the caller may keep it open as long as it
 * likes. `admit` does the rest after the commit.
 *
 * @example
 * const job = await arrive(executeIn(tx), draft(submission), 86_400);
 */
export async function arrive(execute: Execute, draft: Draft, key_ttl_seconds: number): Promise<JobRow> {
  const { unique } = draft.request;
  const rest = [
    draft.key ?? "",
    draft.hash,
    key_ttl_seconds,
    unique ? uniqueNameOf(draft).key : "",
    unique?.on_conflict ?? ("" satisfies Unique["on_conflict"] | ""),
    unique?.window_seconds?.toString() ?? "",
  ];
  const [row] = await execute<{ created_at: Date | string; run_at: Date | string | null }>({
    text,
    params: [...inputParams([draft]), ...rest],
  });
  if (!row) throw new Error("the insert gave no row");
  const run_at = new Map(row.run_at === null ? [] : [[draft.id, new Date(row.run_at)]]);
  return newRow(draft, { created_at: new Date(row.created_at), run_at, blocked: new Set([draft.id]) });
}

const orNull = (place: number) => `nullif($${place}::text, '')`;

const text = composed(
  "submit/arrive",
  [...inputParameters, "key", "request_hash", "key_ttl_seconds", "unique_key", "on_conflict", "window_seconds"],
  `
  WITH asked AS MATERIALIZED (SELECT * FROM ${input({ keyed: false })}), made AS (
    INSERT INTO jobs (id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, run_at, created_at, updated_at,
                      payload, traceparent, tracestate, status, blocked_seq, group_key)
    SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds, nullif(backoff::text, 'null')::json, starts_at, now(), now(),
           payload, traceparent, tracestate, 'blocked', 0, group_key
    FROM asked
    RETURNING tenant, queue
  ), ${countChanges("made", { blocked: "count(*)" })}, arrived AS (
    INSERT INTO arrivals (job_id, tenant, queue, group_key, unique_key, on_conflict, window_seconds,
                          idempotency_key, request_hash, key_ttl_seconds)
    SELECT id, tenant, queue, group_key, ${orNull(18)}, ${orNull(19)}, ${orNull(20)}::float8,
           ${orNull(15)}, decode(${orNull(16)}, 'hex'), $17::float8
    FROM asked
  )
  SELECT now() AS created_at, CASE WHEN starts_at > now() THEN starts_at END AS run_at FROM asked`,
);
