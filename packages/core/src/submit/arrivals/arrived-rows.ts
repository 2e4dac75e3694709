import type { SubmitJob, Unique } from "@atlasqueue/contract";
import { uuidArray } from "../../database/literals.ts";
import type { JobRow } from "../../database/schema/index.ts";
import type { Execute } from "../../database/statement.ts";
import { nameOf, type Wanted } from "../held.ts";
import type { Draft } from "../insert-jobs.ts";

/** A job that has arrived, and what it asks for. */
export type ArrivedRow = JobRow & { asks: Asks };
type Asks = {
  /** False when it was cancelled before it was admitted. */
  waits: boolean;
  /** It was submitted long ago, and waited for other jobs until now. */
  released: boolean;
  payload: string | null;
  unique_key: string | null;
  on_conflict: Unique["on_conflict"] | null;
  window_seconds: number | null;
  key: string | null;
  hash: string | null;
  key_ttl_seconds: number | null;
};

/**
 * Those of the ids that wait to be admitted, in the order in which they arrived. Locks nothing: the answer may be larger
 * than the network's buffers, and a process that stands still while it reads would keep what is locked.
 *
 * @example
 * const rows = await readArrived(execute, ids);
 */
export function readArrived(execute: Execute, ids: readonly string[]): Promise<readonly ArrivedRow[]> {
  return execute<ArrivedRow>({ text, params: [uuidArray(ids)] });
}

/** Its group and its unique key, as far as it has them. */
export function wantedBy({ tenant, queue, group_key, asks: { unique_key } }: ArrivedRow): Wanted[] {
  const wanted: Wanted[] = [];
  if (group_key !== null) wanted.push({ of: "group", tenant, queue, name: group_key });
  if (unique_key !== null) wanted.push({ of: "unique", tenant, queue, name: unique_key });
  return wanted;
}

/** The name of its group, if it has one. */
export const groupOf = ({ tenant, queue, group_key }: ArrivedRow): string | undefined =>
  group_key === null ? undefined : nameOf({ of: "group", tenant, queue, name: group_key });

/** The request as the row has it: what a newer job replaces an older one with comes from here too. */
export function draftOf(row: ArrivedRow): Draft {
  const { on_conflict, window_seconds, payload, key, hash } = row.asks;
  const terms = window_seconds === null ? { scope: "active" as const } : { scope: "window" as const, window_seconds };
  const request: SubmitJob = {
    type: row.type,
    queue: row.queue,
    payload: row.payload,
    priority: row.priority,
    max_attempts: row.max_attempts,
    run_at: row.run_at.toISOString(),
    ...(row.timeout_seconds !== null && { timeout_seconds: row.timeout_seconds }),
    ...(row.group_key !== null && { group: row.group_key }),
    ...(row.backoff !== null && { backoff: row.backoff }),
    ...(on_conflict !== null && { unique: { ...terms, on_conflict } }),
  };
  const { traceparent, tracestate } = row;
  const trace = traceparent === null ? undefined : { traceparent, tracestate };
  return { id: row.id, tenant: row.tenant, request, payload: payload ?? "null", key, hash: hash ?? "", trace };
}

// The payload as it was sent, for those that may replace another.
const text = `
  SELECT jobs.*, json_build_object(
    'waits', jobs.group_seq IS NOT DISTINCT FROM 0,
    'released', EXISTS (SELECT FROM atlasqueue.flow_jobs WHERE flow_jobs.job_id = jobs.id AND json_array_length(parents) > 0), 'payload', CASE WHEN on_conflict = 'replace' THEN payload::text END,
    'unique_key', unique_key, 'on_conflict', on_conflict, 'window_seconds', window_seconds, 'key', idempotency_key,
    'hash', encode(request_hash, 'hex'), 'key_ttl_seconds', key_ttl_seconds) AS asks
  FROM atlasqueue.arrivals JOIN atlasqueue.jobs ON jobs.id = arrivals.job_id
  WHERE arrivals.job_id = ANY($1::uuid[]) ORDER BY arrivals.job_id`;
