import type { SubmitJob, Unique } from "@atlasqueue/contract";
import { uuidArray } from "../../database/literals.ts";
import type { JobRow } from "../../database/schema/index.ts";
import type { Execute } from "../../database/statement.ts";
import { isHeld, lookFor, nameOf, type Wanted } from "../held.ts";
import type { Draft } from "../insert-jobs.ts";

/** A job that has arrived, and what it asks for. */
export type ArrivedRow = JobRow & { asks: Asks };
type Asks = {
  /** False when it was cancelled before it was admitted. */
  waits: boolean;
  /** It was submitted long ago, and waited for other jobs until now. */
  released: boolean;
  /** Another transaction has locked its group, or its unique key. Missing when nobody asked. */
  group_held?: boolean;
  key_held?: boolean;
  payload: string | null;
  unique_key: string | null;
  on_conflict: Unique["on_conflict"] | null;
  window_seconds: number | null;
  key: string | null;
  hash: string | null;
  key_ttl_seconds: number | null;
};

/**
 * Those of the ids that wait to be admitted, in the order in which they arrived. With `looks` it says what of that which
 * they want is locked.
 *
 * @example
 * const rows = await readArrived(execute, ids, true);
 */
export function readArrived(execute: Execute, ids: readonly string[], looks: boolean): Promise<readonly ArrivedRow[]> {
  return execute<ArrivedRow>({ text: looks ? looking : plain, params: [uuidArray(ids)] });
}

/** The name of its group, if it has one. */
export const groupOf = ({ tenant, queue, group_key }: ArrivedRow): string | undefined =>
  group_key === null ? undefined : wanted("group", tenant, queue, group_key);
/** The name of its unique key, if it has one. */
export const keyOf = ({ tenant, queue, asks: { unique_key } }: ArrivedRow): string | undefined =>
  unique_key === null ? undefined : wanted("unique", tenant, queue, unique_key);
const wanted = (of: Wanted["of"], tenant: string, queue: string, name: string) => nameOf({ of, tenant, queue, name });

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

// The payload as it was sent, for those that may replace another. What is locked here is free again with the answer: it
// only tells whether somebody else holds it.
const textOf = (looks: boolean) => `
  SELECT jobs.*, json_build_object(
    'waits', jobs.blocked_seq IS NOT DISTINCT FROM 0,
    'released', EXISTS (SELECT FROM flow_jobs WHERE flow_jobs.job_id = jobs.id AND json_array_length(parents) > 0), 'payload', CASE WHEN on_conflict = 'replace' THEN payload::text END,
    ${looks ? `'group_held', ${isHeld("group")}, 'key_held', ${isHeld("unique")}, ` : ""}'unique_key', unique_key, 'on_conflict', on_conflict, 'window_seconds', window_seconds, 'key', idempotency_key,
    'hash', encode(request_hash, 'hex'), 'key_ttl_seconds', key_ttl_seconds) AS asks
  FROM arrivals JOIN jobs ON jobs.id = arrivals.job_id${looks ? lookFor("group", "arrivals", "group_key") + lookFor("unique", "arrivals", "unique_key") : ""}
  WHERE arrivals.job_id = ANY($1::uuid[]) ORDER BY arrivals.job_id`;
const looking = textOf(true);
const plain = textOf(false);
