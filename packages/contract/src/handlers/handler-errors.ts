import { limits } from "../checks/limits.ts";

// What a handler may throw to say more than "it failed". Here, so that they mean the same in a worker beside the
// database and in one on the far side of HTTP.

/** The payload does not fit the handler's schema. */
export class PayloadError extends Error {
  override readonly name = "PayloadError";
}

/** The result does not fit the schema that its definition has for results: told to who waits for it. */
export class ResultError extends Error {
  override readonly name = "ResultError";
}

/**
 * Throw this to choose when the job is tried again, instead of its backoff. At most a year; a delay that is not a number
 * is as if none was given.
 */
export class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";
  readonly delay_ms: number | undefined;
  constructor(message: string, delay_ms: number) {
    super(message);
    this.delay_ms = Number.isFinite(delay_ms)
      ? Math.min(Math.max(0, delay_ms), limits.delay_seconds_max * 1_000)
      : undefined;
  }
}

/** Throw this when trying again cannot help: the job becomes a dead letter at once. */
export class DoNotRetryError extends Error {
  override readonly name = "DoNotRetryError";
}
