import { AtlasQueueError, isWordOfApi, NetworkError, TimeoutError, UnderWayError } from "../errors.ts";

/**
 * After which failures a request may be sent again. `always`: whenever it may help, as doing it twice is the same as
 * doing it once. `undone`: only when the server did not carry it out, as far as anyone can tell.
 */
export type Repeat = "always" | "undone";

const base_ms = 200;
const backoff_ms_max = 10_000;

/**
 * Exponential with full jitter: from 0 to 200 ms, 400 ms, … 10 s, so that clients that failed together spread out. `most_ms`:
 * of a request that must be repeated sooner.
 */
export function backoffMs(tries: number, random: number, most_ms = Infinity): number {
  return random * Math.min(backoff_ms_max, most_ms, base_ms * 2 ** Math.min(tries, 16));
}

/** Whether the request may be sent again after this error. */
export function mayRepeat(error: unknown, repeat: Repeat): boolean {
  if (!(error instanceof AtlasQueueError)) return false;
  // It refuses before anything is done.
  if (error.status === 429) return true;
  if (error.status === 503) return repeat === "always" || saysUndone(error);
  // The first one with this key, perhaps this very call's, will end in a moment.
  if (error instanceof UnderWayError) return true;
  if (error instanceof NetworkError && error.refused) return true;
  if (repeat === "undone") return false;
  return error instanceof NetworkError || error instanceof TimeoutError || error.status === 502 || error.status === 504;
}

/** Only the API knows: a gateway also answers 503 when it loses the connection to an API that has done it. */
const saysUndone = (error: AtlasQueueError): boolean => isWordOfApi(error) && !error.problem?.maybe_done;

/** `rest_ms_max`: of the rest that is not asked for by a Retry-After. */
type NextTry = { repeat: Repeat; tries: number; retries: number; left_ms: number; rest_ms_max?: number | undefined };

/**
 * How long to wait before the next try, or undefined when there is none: the error does not allow it, or no tries or
 * time are left. A Retry-After from the server is never shortened.
 */
export function nextTryInMs(
  error: unknown,
  { repeat, tries, retries, left_ms, rest_ms_max }: NextTry,
  random: number,
): number | undefined {
  if (tries > retries || !mayRepeat(error, repeat)) return undefined;
  const asked_ms = (error as AtlasQueueError).retryAfterMs ?? 0;
  const wait_ms = asked_ms + backoffMs(tries - 1, random, rest_ms_max);
  return wait_ms <= left_ms ? wait_ms : undefined;
}

/** A Retry-After header, in seconds or as an HTTP date, in milliseconds from now; undefined when it is neither. */
export function parseRetryAfter(header: string | null, now_ms: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  // Date.parse takes far more than HTTP dates: "-5" is a day in May.
  const date = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now_ms);
}
