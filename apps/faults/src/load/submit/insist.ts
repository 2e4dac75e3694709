import {
  AtlasQueueError,
  NetworkError,
  RateLimitError,
  TimeoutError,
  UnavailableError,
  UnderWayError,
} from "@atlasqueue/client";
import { IdempotencyMismatchError, InvalidJobError, isUnavailable, UniqueConflictError } from "@atlasqueue/core";
import { pause } from "@atlasqueue/core/internal";
import { noteUnanswered } from "./tries.ts";

/** What became of a call, as far as its caller can know. */
export type Known<T> =
  | { kind: "done"; value: T }
  /** It was answered, and nothing was done. */
  | { kind: "refused"; error: Error }
  /** It may have been done. */
  | { kind: "unknown"; error: unknown };

const pause_ms_max = 1_000;

/**
 * Calls, each time somewhere else, until it is known what became of it: for what may be sent again under its key. Gives
 * up when `over` aborts.
 *
 * @example
 * const known = await insist(over, (tries) => apis[tries % apis.length].submit(request));
 */
export async function insist<T>(over: AbortSignal, call: (tries: number) => Promise<T>): Promise<Known<T>> {
  for (let tries = 0; ; tries += 1) {
    const known = await once(() => call(tries));
    if (known.kind !== "unknown") return known;
    // What the client threw, `countedFetch` has looked at, try by try.
    if (!(known.error instanceof AtlasQueueError)) noteUnanswered();
    if (over.aborted) return known;
    await pause(Math.min(pause_ms_max, 50 * 2 ** tries), over);
    if (over.aborted) return known;
  }
}

/** Calls once: for what must not be sent again after a lost answer. */
export async function once<T>(call: () => Promise<T>): Promise<Known<T>> {
  try {
    return { kind: "done", value: await call() };
  } catch (error) {
    if (isRefusal(error)) return { kind: "refused", error };
    if (isPassing(error)) return { kind: "unknown", error };
    // Nothing that a fault explains. It is in the history, and the load goes on.
    process.stderr.write(`${JSON.stringify({ event: "unexpected_answer", error: String(error) })}\n`);
    return { kind: "unknown", error };
  }
}

/** An answer that says no, after which nothing has changed. */
export function isRefusal(error: unknown): error is Error {
  if (libraryRefusals.some((Refusal) => error instanceof Refusal)) return true;
  if (!(error instanceof AtlasQueueError) || isPassing(error)) return false;
  const { status = 0 } = error;
  return status >= 400 && status < 500;
}

const libraryRefusals = [IdempotencyMismatchError, InvalidJobError, UniqueConflictError];

const isPassing = (error: unknown): boolean =>
  error instanceof NetworkError ||
  error instanceof TimeoutError ||
  error instanceof UnavailableError ||
  error instanceof RateLimitError ||
  error instanceof UnderWayError ||
  isUnavailable(error);
