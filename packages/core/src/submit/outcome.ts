import { traceFields, type SubmitJob, type TraceContext } from "@atlasqueue/contract";
import { getTableColumns } from "../database/drizzle.ts";
import { jobs, type JobRow } from "../database/schema/jobs.ts";
import type { Observe } from "../observe/events.ts";

type Large = "payload" | "result" | "progress" | "last_error";

/**
 * A job without what may be large. A thousand keys, looked up for a small request, may stand for a thousand jobs with
 * half a megabyte each.
 */
export type KnownJob = Omit<JobRow, Large>;

const large: readonly string[] = ["payload", "result", "progress", "last_error"] satisfies Large[];

/** The columns of a `KnownJob`. */
export const knownColumns = Object.values(getTableColumns(jobs))
  .map(({ name }) => name)
  .filter((name) => !large.includes(name))
  .map((name) => `jobs.${name}`)
  .join(", ");

/** A validated request to create a job. Without a key, every call creates another job. */
export type Submission = {
  tenant: string;
  request: SubmitJob;
  idempotency_key?: string | undefined;
  /** What the key stands for besides this request, where one key covers several jobs. */
  fingerprint?: string | undefined;
  /** Where the request belongs in a trace: not part of what it asks for, so no idempotency key covers it. */
  trace?: TraceContext | undefined;
};

export type EnqueueOutcome =
  | { kind: "created"; job: JobRow }
  /** The key was already used for the same request: this is the job it made. */
  | { kind: "replayed"; job: KnownJob }
  | { kind: "mismatch" }
  /** A job with the same unique key exists: this one. */
  | { kind: "existing"; job: KnownJob }
  /** It existed and had not started: now it is what was asked for. `ready` when it is to be signalled. */
  | { kind: "replaced"; job: KnownJob; ready: boolean }
  /** It exists, and the request asked to be refused in that case. */
  | { kind: "conflict"; job_id: string };

/** The jobs it made ready: to be signalled. */
export function readyAmong(outcomes: readonly EnqueueOutcome[]): KnownJob[] {
  return outcomes.flatMap((one) => {
    if (one.kind === "created") return one.job.status === "queued" ? [one.job] : [];
    return one.kind === "replaced" && one.ready ? [one.job] : [];
  });
}

/** In how many milliseconds the jobs for later become ready. */
export function delaysAmong(outcomes: readonly EnqueueOutcome[]): number[] {
  return outcomes.flatMap((one) =>
    (one.kind === "created" || one.kind === "replaced") && one.job.status === "scheduled"
      ? [one.job.run_at.getTime() - one.job.updated_at.getTime()]
      : [],
  );
}

/** One event for each outcome; by the submission, as the outcome may carry no job. */
export function reportEnqueued(
  observe: Observe,
  { tenant, request, trace }: Submission,
  outcome: EnqueueOutcome,
): void {
  const about = { tenant, job_type: request.type, queue: request.queue, ...(trace && traceFields(trace)) };
  switch (outcome.kind) {
    case "created":
      return observe({ event: "job_created", job_id: outcome.job.id, ...about, status: outcome.job.status });
    case "replayed":
      return observe({ event: "idempotent_submission", job_id: outcome.job.id, ...about });
    case "mismatch":
      return observe({ event: "idempotency_mismatch", ...about });
    case "existing":
      return observe({ event: "unique_conflict", job_id: outcome.job.id, ...about, answer: "returned" });
    case "replaced":
      return observe({ event: "unique_conflict", job_id: outcome.job.id, ...about, answer: "replaced" });
    case "conflict":
      return observe({ event: "unique_conflict", job_id: outcome.job_id, ...about, answer: "rejected" });
    default:
      outcome satisfies never;
  }
}
