import {
  errorTypeOf,
  linksTo,
  onlyQueue,
  inOperation,
  placeOfAttempt,
  startOperation,
  type TraceContext,
  type TraceSpan,
  type Tracing,
} from "@atlasqueue/contract";

/** A leased job, as far as its spans say. */
export type TracedJob = {
  tenant?: string;
  id: string;
  queue: string;
  type: string;
  attempts: number;
  worker_id?: string | null;
  /** It was submitted for later. */
  delayed?: boolean;
  traceparent?: string | null;
  tracestate?: string | null;
};

/** Where a job was submitted, as far as that is known. */
function traceOf({ traceparent, tracestate = null }: TracedJob): TraceContext | undefined {
  return traceparent ? { traceparent, tracestate } : undefined;
}

/**
 * The span `receive {queue}` of a lease that took jobs, asked for at `began_at` on the clock of `Date.now()`. Those that took
 * none would be most of them, and say nothing.
 */
export function traceReceived(tracing: Tracing | undefined, jobs: readonly TracedJob[], began_at: number): void {
  const [first] = jobs;
  if (!first || !tracing?.on()) return;
  const about = { count: jobs.length, parent: null, links: linksTo(jobs.map(traceOf)), began_at };
  startOperation(tracing, "receive", { ...aboutWorker(jobs), ...about }).end();
}

const aboutWorker = (jobs: readonly TracedJob[]) => ({
  tenant: jobs[0]?.tenant,
  queue: onlyQueue(jobs),
  worker_id: jobs[0]?.worker_id ?? undefined,
});

/** The span `process {queue}` of one attempt; undefined where attempts are not traced. */
export function beginAttempt(tracing: Tracing | undefined, job: TracedJob): TraceSpan | undefined {
  if (!tracing?.on()) return undefined;
  const { id, type, attempts: attempt, delayed = false } = job;
  const place = placeOfAttempt(traceOf(job), { attempt, delayed }, tracing.child_attempts);
  return startOperation(tracing, "process", { ...aboutWorker([job]), id, type, attempt, ...place });
}

export function endAttempt(span: TraceSpan, outcome: { kind: string; error?: string | undefined }): void {
  if (outcome.error === undefined) span.end();
  else span.end({ type: errorTypeOf(outcome.error), message: outcome.error });
}

/** Settle some attempts in a span `ack {queue}` or `nack {queue}`: part of the attempt, if it is one. */
export function traceSettled<T>(
  tracing: Tracing | undefined,
  name: "ack" | "nack",
  settlements: readonly { job: { traced: TracedJob; span: TraceSpan | undefined } }[],
  settle: () => Promise<T>,
): Promise<T> {
  const about = () => {
    const jobs = settlements.map(({ job }) => job.traced);
    const [one, other] = settlements;
    return {
      ...aboutWorker(jobs),
      ...(one && !other ? { id: one.job.traced.id } : { count: jobs.length }),
      parent: (!other && one?.job.span?.context) || null,
      links: linksTo(jobs.map(traceOf)),
    };
  };
  return inOperation(tracing, name, about, settle);
}
