import { errorData } from "./error-data.ts";
import { errorText } from "./error-text.ts";
import { DoNotRetryError, RetryAfterError } from "./handler-errors.ts";
import type { Json } from "../checks/json.ts";
import { limits } from "../checks/limits.ts";

/** What was thrown, as the end of an attempt. Plain data. */
export type Thrown = {
  error: string;
  error_data?: Json | undefined;
  retryable: boolean;
  /** When to try again, instead of the job's backoff. */
  delay_ms?: number | undefined;
};

/**
 * Anything a handler threw, as the end of its attempt. `name` replaces the error's own. Never throws, though any look
 * at the value may: even `instanceof` (a Proxy answers that as it likes).
 *
 * @example
 * readThrown(new DoNotRetryError("gone")); // { error: "DoNotRetryError: gone", retryable: false }
 */
export function readThrown(thrown: unknown, name?: string): Thrown {
  const error = errorText(thrown, isA(thrown, Error) ? name : undefined);
  const read: Thrown = { error, error_data: errorData(thrown), retryable: !isA(thrown, DoNotRetryError) };
  return isA(thrown, RetryAfterError) ? { ...read, delay_ms: delayOf(thrown) } : read;
}

function isA<T>(thrown: unknown, type: new (...given: never[]) => T): thrown is T {
  try {
    return thrown instanceof type;
  } catch {
    return false;
  }
}

/** A class that extends ours may hold anything. */
function delayOf(thrown: RetryAfterError): number | undefined {
  try {
    const delay_ms: unknown = thrown.delayMs;
    return typeof delay_ms === "number" && delay_ms >= 0 && delay_ms <= limits.delay_seconds_max * 1_000
      ? delay_ms
      : undefined;
  } catch {
    return undefined;
  }
}
