import type { Fault } from "@atlasqueue/contract";

/** What was asked for is not valid; `faults` name the fields, what they accept and what they got. */
export class FaultyError extends Error {
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    super(faults.map(({ pointer, message }) => `${pointer || "/"} ${message}`).join("; "));
    this.faults = faults;
  }
}

/** The job is not valid. */
export class InvalidJobError extends FaultyError {
  override readonly name = "InvalidJobError";
}

/** The key was already used for another job. */
export class IdempotencyMismatchError extends Error {
  override readonly name = "IdempotencyMismatchError";
  constructor(key: string | undefined) {
    super(`the idempotency key ${JSON.stringify(key)} was used for another job`);
  }
}

/** A job with the unique key exists, and `on_conflict` is "reject". Nothing was stored. */
export class UniqueConflictError extends Error {
  override readonly name = "UniqueConflictError";
  /** The job that has the key. */
  readonly jobId: string;
  constructor(jobId: string) {
    super(`the job ${jobId} has this unique key`);
    this.jobId = jobId;
  }
}
