import { ProblemError } from "../http/answers/problem.ts";

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
