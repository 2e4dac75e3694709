import type { JobRow, RemoteOutcome } from "@atlasqueue/core/internal/http";
import { leaseLost, ProblemError, unknownJob } from "../http/answers/problem.ts";

/** Why an operation on a job has not changed it. */
type Refusal =
  | { kind: "unknown" | "lease_lost" }
  | { kind: "not_cancellable" | "not_retryable"; job: Pick<JobRow, "status"> };

/** Throws the problem of an operation on a lease that does not hold. */
export function requireHeld(outcome: RemoteOutcome | undefined): void {
  if (outcome === "not_found") unknownJob();
  if (outcome === "lease_lost") throw leaseLost();
}

/** Throws the problem of an outcome that changed nothing. */
export function refused(outcome: Refusal): never {
  switch (outcome.kind) {
    case "unknown":
      return unknownJob();
    case "lease_lost":
      throw leaseLost();
    case "not_cancellable":
      throw new ProblemError("job_finished", `The job is ${outcome.job.status} already`);
    case "not_retryable":
      throw new ProblemError("not_retryable", `The job is ${outcome.job.status}`);
    default:
      return outcome satisfies never;
  }
}

/** The key of a single job was used for another. */
export function keyMismatch(): ProblemError {
  return new ProblemError(
    "idempotency_mismatch",
    "The key belongs to a job with another body; a new job needs a new key",
  );
}

/** A job with its unique key exists, and it asked to be refused then. */
export function uniqueConflict(job_id: string): ProblemError {
  return new ProblemError("unique_conflict", `The job ${job_id} has this unique key`);
}
