import type { Problem } from "@atlasqueue/contract";
import * as errors from "../errors.ts";
import { parseRetryAfter } from "./retry.ts";

type ErrorClass = new (message: string, facts: errors.ErrorFacts) => errors.AtlasQueueError;

/** By the last part of the problem's `type`, where the status alone is not enough. */
const byProblem = new Map<string | undefined, ErrorClass>([
  ["lease-lost", errors.LeaseLostError],
  ["job-finished", errors.JobFinishedError],
  ["not-retryable", errors.NotRetryableError],
  ["idempotency-mismatch", errors.IdempotencyMismatchError],
  ["idempotency-under-way", errors.UnderWayError],
]);

const byStatus = new Map<number, ErrorClass>([
  [400, errors.ValidationError],
  [401, errors.AuthError],
  [403, errors.AuthError],
  [404, errors.NotFoundError],
  [408, errors.TimeoutError],
  [409, errors.ConflictError],
  [413, errors.TooLargeError],
  [422, errors.ValidationError],
  [429, errors.RateLimitError],
  [502, errors.UnavailableError],
  [503, errors.UnavailableError],
  [504, errors.UnavailableError],
]);

/**
 * The error an answer stands for. `what` was asked ("GET /v1/jobs/17"), and `text` is the body: a problem if the API
 * answered, anything if something in between did.
 */
export function errorOfAnswer(what: string, response: Response, text: string): errors.AtlasQueueError {
  const problem = readProblem(text);
  const { status, headers } = response;
  const Class = byProblem.get(problem?.type.split("/").at(-1)) ?? byStatus.get(status) ?? errors.AtlasQueueError;
  return new Class(`${what}: ${status} ${problem ? wordsOf(problem) : response.statusText}`.trimEnd(), {
    status,
    problem,
    requestId: headers.get("x-request-id") ?? problem?.instance,
    retryAfterMs: parseRetryAfter(headers.get("retry-after"), Date.now()),
  });
}

/** The error a problem in a part of an answer stands for. */
export function errorOfProblem(what: string, problem: Problem): errors.AtlasQueueError {
  const Class = byProblem.get(problem.type.split("/").at(-1)) ?? byStatus.get(problem.status) ?? errors.AtlasQueueError;
  return new Class(`${what}: ${problem.status} ${wordsOf(problem)}`, { status: problem.status, problem });
}

function wordsOf({ title, detail, errors: faulty = [] }: Problem): string {
  const faults = faulty.map(({ pointer, message }) => `${pointer || "/"} ${message}`).join("; ");
  // The detail of a validation repeats the first fault.
  return `${title}: ${faults || detail}`;
}

function readProblem(text: string): Problem | undefined {
  try {
    const read = JSON.parse(text) as Partial<Problem> | null;
    const known = typeof read?.type === "string" && typeof read.title === "string" && typeof read.detail === "string";
    if (!known) return undefined;
    return { ...read, errors: Array.isArray(read.errors) ? read.errors : undefined } as Problem;
  } catch {
    return undefined;
  }
}

/** What `fetch` threw, in words; `hide` removes what must not be shown. */
export function networkError(what: string, thrown: unknown, hide: (text: string) => string): errors.NetworkError {
  const reasons: string[] = [];
  const codes: unknown[] = [];
  // Node says "fetch failed" and keeps the reason one or two causes down.
  for (let at = thrown, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    if (at.message) reasons.push(at.message);
    codes.push((at as { code?: unknown }).code);
  }
  const code = codes.find((found) => typeof found === "string");
  const words = tlsWords(reasons) ?? ([...new Set(reasons)].join(": ") || String(code ?? thrown));
  return new errors.NetworkError(`${what}: ${hide(words)}`, { cause: thrown, refused: codes.some(isRefusal) });
}

/** OpenSSL's message for a server that does not speak TLS names its own source files. */
function tlsWords(reasons: readonly string[]): string | undefined {
  return reasons.some((reason) => /wrong version number|packet length too long|EPROTO/i.test(reason))
    ? "the server does not speak TLS there; is its URL http:// and not https://?"
    : undefined;
}

/** No connection was made, as Node and Bun report it. Deno and browsers do not say, so there it is unknown. */
function isRefusal(code: unknown): boolean {
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"].includes(String(code));
}
