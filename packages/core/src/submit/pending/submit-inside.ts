import { canonicalJson, type JobStatus } from "@atlasqueue/contract";
import { composed } from "../../database/composed.ts";
import type { Execute } from "../../database/statement.ts";
import type { EnqueueOptions } from "../enqueue.ts";
import type { Submission } from "../outcome.ts";

type Known = { id: string; status: JobStatus };
export type InsideOutcome =
  | { kind: "created" | "replayed"; job: Known }
  | { kind: "mismatch" }
  | { kind: "conflict"; job_id: string };

/**
 * Store a job in a transaction that is not ours, and may stay open for long: the function `submit_job` of the database
 * reads and inserts, and holds nothing anyone could wait for. No event is emitted, as it may yet be rolled back.
 *
 * @example
 * const outcome = await submitInside(executeIn(tx), submission, { idempotency_ttl_seconds: 86_400 });
 */
export async function submitInside(
  execute: Execute,
  { tenant, request, idempotency_key, trace }: Submission,
  { idempotency_ttl_seconds }: EnqueueOptions,
): Promise<InsideOutcome> {
  const { type, payload, ...rest } = request;
  const options = { ...rest, tenant, idempotency_key, idempotency_ttl_seconds, ...withState(trace) };
  const params = [type, canonicalJson(payload), JSON.stringify(options)];
  const [row] = await execute<Row>({ text, params });
  if (!row) throw new Error("the function gave no row");
  const { outcome, id, status } = row;
  if (outcome === "mismatch") return { kind: outcome };
  if (outcome === "conflict") return { kind: outcome, job_id: id };
  return { kind: outcome, job: { id, status } };
}

type Row = Known & { outcome: "created" | "replayed" | "mismatch" | "conflict" };

/** A trace context as the options of the functions. */
export function withState(trace: Submission["trace"]) {
  if (!trace) return {};
  const { traceparent, tracestate } = trace;
  return tracestate === null ? { traceparent } : { traceparent, tracestate };
}

const text = composed(
  "submit/inside",
  ["type", "payload", "options"],
  "SELECT outcome, id, status FROM atlasqueue.submit_job($1::text, (SELECT $2::text::json), (SELECT $3::text::jsonb))",
);
