import type { Job, JobError, Problem } from "@atlasqueue/contract";

/** What is known about a failed call besides its message. */
export type ErrorFacts = {
  status?: number | undefined;
  problem?: Problem | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
};

/**
 * Every call that fails rejects with one of these; only a caller's own `signal` rejects with its reason instead, and a
 * source of jobs that fails with its own error. The message never holds the token.
 *
 * @example
 * await client.get(id).catch((error) => (error instanceof NotFoundError ? undefined : Promise.reject(error)));
 */
export class AtlasQueueError extends Error {
  override readonly name: string = "AtlasQueueError";
  /** The answer's status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** What the API said (RFC 9457), if it was the API that answered. */
  readonly problem: Problem | undefined;
  /** Finds the request in the API's log. */
  readonly requestId: string | undefined;
  /** How long the server asked callers to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.status = facts.status;
    this.problem = facts.problem;
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/**
 * Whether an error is what the API itself said. Whatever is in between, such as a gateway whose backend restarts, answers
 * 404, 413 or 503 as well, and knows nothing of jobs, leases or what was done.
 */
export const isWordOfApi = (error: unknown): error is AtlasQueueError =>
  error instanceof AtlasQueueError && error.problem !== undefined && error.problem.type.startsWith("/problems/");

/**
 * Whether the API itself says that its database is away. Nobody is given a job by it then, nor ends a lease. A gateway's
 * 503 says nothing of the kind, nor does that of an API without room.
 */
export const isDatabaseAway = (error: unknown): boolean =>
  isWordOfApi(error) && error.problem?.type === "/problems/unavailable";

/** 401 or 403: no token, an unknown or expired one, or one that does not allow this. */
export class AuthError extends AtlasQueueError {
  override readonly name = "AuthError";
}

/** 404: nothing here has this id, or it belongs to another tenant. */
export class NotFoundError extends AtlasQueueError {
  override readonly name = "NotFoundError";
}

/** 409: the request does not fit the job's status. */
export class ConflictError extends AtlasQueueError {
  override readonly name: string = "ConflictError";
}

/** 409: another call with this idempotency key has been begun and not finished; it is sent again for as long as retries go. */
export class UnderWayError extends ConflictError {
  override readonly name = "UnderWayError";
}

/**
 * The job is no longer held under this lease: stop working on it. After a nack whose first answer was lost it may also
 * mean that the nack took effect and the job has moved on since.
 */
export class LeaseLostError extends ConflictError {
  override readonly name = "LeaseLostError";
}

/** The job has finished, so it cannot be cancelled. */
export class JobFinishedError extends ConflictError {
  override readonly name = "JobFinishedError";
}

/** Only a dead, cancelled or failed job can be retried. */
export class NotRetryableError extends ConflictError {
  override readonly name = "NotRetryableError";
}

/** 400 or 422: `errors` name each field that is wrong, what it takes and what it got. */
export class ValidationError extends AtlasQueueError {
  override readonly name = "ValidationError";
  get errors(): readonly { pointer: string; message: string }[] {
    return this.problem?.errors ?? [];
  }
}

/** The idempotency key was already used for a different job: one of the two is a mistake. */
export class IdempotencyMismatchError extends AtlasQueueError {
  override readonly name = "IdempotencyMismatchError";
}

/** 413: a body, payload or result larger than the server accepts. */
export class TooLargeError extends AtlasQueueError {
  override readonly name = "TooLargeError";
}

/** 429, after the retries that `retries` and `retryMaxMs` allow. */
export class RateLimitError extends AtlasQueueError {
  override readonly name = "RateLimitError";
}

/** 502, 503 or 504, after the retries: the API or its database is away. */
export class UnavailableError extends AtlasQueueError {
  override readonly name = "UnavailableError";
}

/** No answer came in time, or a job was not final in time. Whether the request was carried out is unknown. */
export class TimeoutError extends AtlasQueueError {
  override readonly name = "TimeoutError";
}

/** No connection, or one that broke. `refused` when it was never made, so nothing was carried out. */
export class NetworkError extends AtlasQueueError {
  override readonly name = "NetworkError";
  readonly refused: boolean;
  constructor(message: string, facts: { cause: unknown; refused: boolean }) {
    super(message, { cause: facts.cause });
    this.refused = facts.refused;
  }
}

/** A success that is not the API's: perhaps the URL is another server's, or something sits in between. */
export class UnexpectedAnswerError extends AtlasQueueError {
  override readonly name = "UnexpectedAnswerError";
}

/** The job whose result was asked for is dead: `error` is what its handler last threw; `job` has the rest. */
export class JobFailedError extends AtlasQueueError {
  override readonly name = "JobFailedError";
  readonly job: Job;
  /** `data` is the `data` of the error that was thrown, up to 16 KiB of JSON. */
  readonly error: JobError;
  constructor(job: Job, error: JobError) {
    super(`job ${job.id} is dead: ${job.last_error ?? job.dead_reason ?? "no reason was given"}`);
    this.job = job;
    this.error = error;
  }
}

/** The job whose result was asked for was cancelled. */
export class JobCancelledError extends AtlasQueueError {
  override readonly name = "JobCancelledError";
  readonly job: Job;
  constructor(job: Job) {
    super(`job ${job.id} was cancelled`);
    this.job = job;
  }
}
