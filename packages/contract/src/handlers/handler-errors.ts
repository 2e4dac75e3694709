import { limits } from "../checks/limits.ts";

// What a handler may throw to say more than "it failed". Kept here, so that they mean the same in a worker with a
// database connection and in a remote one over HTTP.

/** The payload does not fit the handler's schema. */
export class PayloadError extends Error {
  override readonly name = "PayloadError";
}

/** The result does not fit its definition's result schema; thrown to the code waiting for it. */
export class ResultError extends Error {
  override readonly name = "ResultError";
}

/**
 * Throw this to choose when the job is tried again, instead of its backoff. At most a year; a delay that is not a
 * number counts as none given.
 */
export class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";
  readonly delayMs: number | undefined;
  constructor(message: string, delayMs: number) {
    super(message);
    this.delayMs = Number.isFinite(delayMs)
      ? Math.min(Math.max(0, delayMs), limits.delay_seconds_max * 1_000)
      : undefined;
  }
}

/** Throw this when retrying cannot help: the job becomes a dead letter at once. */
export class DoNotRetryError extends Error {
  override readonly name = "DoNotRetryError";
}
