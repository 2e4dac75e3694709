import {
  errorTypeOf,
  placeOfAttempt,
  startOperation,
  type TraceContext,
  type TraceSpan,
  type Tracing,
} from "@atlasqueue/contract";
import type { Lease } from "@atlasqueue/core/internal";
import type { Outcome } from "../run/outcome.ts";

/** Where a leased job was submitted, as far as that is known. */
export function traceOf({ traceparent, tracestate = null }: Lease): TraceContext | undefined {
  return traceparent ? { traceparent, tracestate } : undefined;
}

/** The span `process {queue}` of one attempt; undefined when the job was claimed by a worker that does not trace. */
export function beginAttempt(tracing: Tracing | undefined, lease: Lease): TraceSpan | undefined {
  if (!tracing?.on()) return undefined;
  const { tenant, id, queue, type, attempts: attempt, worker_id, delayed = false } = lease;
  const place = placeOfAttempt(traceOf(lease), { attempt, delayed }, tracing.child_attempts);
  return startOperation(tracing, "process", { tenant, queue, id, type, attempt, worker_id, ...place });
}

export function endAttempt(span: TraceSpan, outcome: Outcome): void {
  if (outcome.kind !== "failed" && outcome.kind !== "not_started") span.end();
  else span.end({ type: errorTypeOf(outcome.error), message: outcome.error });
}
