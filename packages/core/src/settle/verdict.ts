import type { Backoff } from "@atlasqueue/contract";
import { backoffDelayMs, type BackoffPolicy } from "./backoff.ts";

/** What becomes of a job whose attempt failed. */
export type Verdict = { kind: "retry"; delay_ms: number } | { kind: "dead"; reason: DeadReason };
type DeadReason = "attempts_exhausted" | "not_retryable";

export type FailedAttempt = {
  attempts: number;
  max_attempts: number;
  backoff: Backoff | null;
  /** False when retrying cannot help. */
  retryable: boolean;
  /** The delay the failure itself asked for, such as a Retry-After, in milliseconds; replaces the backoff. */
  delay_ms?: number | undefined;
};

/**
 * Decide, without touching anything. `random` is in [0, 1).
 *
 * @example
 * verdictAfterFailure({ attempts: 5, max_attempts: 5, backoff: null, retryable: true }, policy, 0);
 * // { kind: "dead", reason: "attempts_exhausted" }
 */
export function verdictAfterFailure(attempt: FailedAttempt, policy: BackoffPolicy, random: number): Verdict {
  if (!attempt.retryable) return { kind: "dead", reason: "not_retryable" };
  if (attempt.attempts >= attempt.max_attempts) return { kind: "dead", reason: "attempts_exhausted" };
  return {
    kind: "retry",
    delay_ms: attempt.delay_ms ?? backoffDelayMs(policy, attempt.backoff, attempt.attempts, random),
  };
}
