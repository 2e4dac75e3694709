import {
  errorTypeOf,
  linksTo,
  onlyQueue,
  placeOfAttempt,
  startOperation,
  type Job,
  type TraceContext,
  type TraceSpan,
  type Tracing,
} from "@atlasqueue/contract";
import type { LeasedJob } from "../resources/leases.ts";
import type { Outcome } from "../work/run-job.ts";
import { operation } from "./operations.ts";

function traceOf({ traceparent, tracestate }: Job): TraceContext | undefined {
  // An older API does not say.
  return traceparent ? { traceparent, tracestate: tracestate ?? null } : undefined;
}

/** The span `receive {queue}` of a lease that took jobs, asked for at `began_at`. */
export function traceReceived(tracing: Tracing | undefined, jobs: readonly LeasedJob[], began_at: number): void {
  const [first] = jobs;
  if (!first || !tracing?.on()) return;
  startOperation(tracing, "receive", {
    queue: first.job.queue,
    count: jobs.length,
    worker_id: first.job.worker_id ?? undefined,
    parent: null,
    links: linksTo(jobs.map(({ job }) => traceOf(job))),
    began_at,
  }).end();
}

/** The span `process {queue}` of one attempt. */
export function beginAttempt(tracing: Tracing | undefined, job: Job): TraceSpan | undefined {
  if (!tracing?.on()) return undefined;
  const { id, queue, type, attempts: attempt, worker_id } = job;
  const delayed = job.run_at !== job.created_at;
  const place = placeOfAttempt(traceOf(job), { attempt, delayed }, tracing.child_attempts);
  return startOperation(tracing, "process", { queue, id, type, attempt, worker_id: worker_id ?? undefined, ...place });
}

export function endAttempt(span: TraceSpan, outcome: Outcome): void {
  if (outcome.kind === "succeeded") span.end();
  else span.end({ type: errorTypeOf(outcome.error), message: outcome.error });
}

type Attempt = { leased: LeasedJob; span: TraceSpan | undefined };

/** The settlement of some attempts as a span `ack {queue}` or `nack {queue}`: part of the attempt, if it is one. */
export function traceSettled<T>(
  tracing: Tracing | undefined,
  name: "ack" | "nack",
  attempts: readonly Attempt[],
  settle: () => Promise<T>,
): Promise<T> {
  const about = () => {
    const jobs = attempts.map(({ leased }) => leased.job);
    const [first] = attempts;
    const one = attempts.length === 1 ? first : undefined;
    return {
      queue: onlyQueue(jobs),
      ...(one ? { id: one.leased.job.id } : { count: jobs.length }),
      worker_id: first?.leased.job.worker_id ?? undefined,
      parent: one?.span?.context ?? null,
      links: linksTo(jobs.map(traceOf)),
    };
  };
  return operation(tracing, name, about, settle);
}
