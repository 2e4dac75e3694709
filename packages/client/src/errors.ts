import type { Problem } from "@atlasqueue/contract";

/** What is known about a failed call beside its message. */
export type ErrorFacts = {
  status?: number | undefined;
  problem?: Problem | undefined;
  request_id?: string | undefined;
  retry_after_ms?: number | undefined;
  cause?: unknown;
};

/**
 * Every call that fails rejects with one of these; only a caller's own `signal` rejects with its reason instead. The
 * message never holds the token.
 *
 * @example
 * await client.get(id).catch((error) => (error instanceof NotFoundError ? undefined : Promise.reject(error)));
 */
export class AtlasQueueError extends Error {
  override readonly name: string = "AtlasQueueError";
  /** Of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** What the API said (RFC 9457), when it was the API that answered. */
  readonly problem: Problem | undefined;
  /** Finds the request in the API's log. */
  readonly requestId: string | undefined;
  /** How long the server asked to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.status = facts.status;
    this.problem = facts.problem;
    this.requestId = facts.request_id;
    this.retryAfterMs = facts.retry_after_ms;
  }
}

/** 401 or 403: no token, one that is not known or has expired, or one that does not allow this. */
export class AuthError extends AtlasQueueError {
  override readonly name = "AuthError";
}

/** 404: nothing here has this id, or it belongs to somebody else. */
export class NotFoundError extends AtlasQueueError {
  override readonly name = "NotFoundError";
}

/** 409: what was asked does not fit the job's status. */
export class ConflictError extends AtlasQueueError {
  override readonly name: string = "ConflictError";
}

/**
 * The job is not held under this lease any more: stop working on it. After a nack whose first answer was lost on the
 * way it may also mean that the nack was done and the job has gone on since.
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

/** The idempotency key was used for another job before: one of the two is a mistake. */
export class IdempotencyMismatchError extends AtlasQueueError {
  override readonly name = "IdempotencyMismatchError";
}

/** 413: a body, payload or result larger than the server takes. */
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

/** No answer came in time, or a job was not final in time. Whether the request was carried out is not known. */
export class TimeoutError extends AtlasQueueError {
  override readonly name = "TimeoutError";
}

/** No connection, or one that broke. `refused` when it was never made, so that nothing was carried out. */
export class NetworkError extends AtlasQueueError {
  override readonly name = "NetworkError";
  readonly refused: boolean;
  constructor(message: string, facts: { cause: unknown; refused: boolean }) {
    super(message, { cause: facts.cause });
    this.refused = facts.refused;
  }
}

/** A success that is not the API's: perhaps the URL is another server's, or something stands in between. */
export class UnexpectedAnswerError extends AtlasQueueError {
  override readonly name = "UnexpectedAnswerError";
}
