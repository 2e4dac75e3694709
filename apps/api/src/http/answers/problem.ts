import { problems, problemType, type Fault, type Problem, type ProblemKind } from "@atlasqueue/contract";
import { answerText } from "./answer.ts";

export type ProblemExtras = {
  /** Every part of the request that is wrong. */
  errors?: Fault[];
  /** It, or a part of it, may have been done. */
  maybe_done?: boolean;
  headers?: Record<string, string>;
};

/** Thrown to end a request: what the client is told. Anything else thrown is a bug. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly kind: ProblemKind;
  readonly extras: ProblemExtras;
  constructor(kind: ProblemKind, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.kind = kind;
    this.extras = extras;
  }
}

/** A `validation` problem about these faults, the first of which is also in the detail. */
export function invalid(errors: Fault[]): ProblemError {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return new ProblemError("validation", `${first && faultText(first)}${more}`, { errors });
}

export const faultText = ({ pointer, message }: Fault): string => `${pointer || "the body"} ${message}`;

/** The answer to a thing, such as a "job with this id", that is unknown or another tenant's: no one can tell which. */
export function unknown(thing: string): never {
  throw new ProblemError("not_found", `There is no ${thing}`);
}
export function unknownJob(): never {
  return unknown("job with this id");
}

/** The answer to a token under which the job is not, or no longer, held. */
export function leaseLost(): ProblemError {
  return new ProblemError(
    "lease_lost",
    "The lease has ended, was taken over, or is of another job; what was done under it does not count",
  );
}

/** One that is over soon: it says in how many seconds to try again. */
export function temporary(kind: ProblemKind, detail: string, seconds = 1, extras: ProblemExtras = {}): ProblemError {
  return new ProblemError(kind, detail, { ...extras, headers: { "retry-after": String(Math.ceil(seconds)) } });
}

/** The database is unavailable. */
export const unavailable = (detail: string, maybe_done = false): ProblemError =>
  temporary("unavailable", detail, 1, { maybe_done });

/** No token, or no valid one. The challenge says "invalid_token" only to a caller who showed one (RFC 6750 §3.1). */
export function unauthorized(detail: string, showed_one = false): ProblemError {
  const challenge = `Bearer realm="atlasqueue"${showed_one ? ', error="invalid_token"' : ""}`;
  return new ProblemError("unauthorized", detail, { headers: { "www-authenticate": challenge } });
}

/** Our own mistake. Log the cause under the request id: the client learns nothing else. */
export function internal(): ProblemError {
  return new ProblemError("internal", "Internal error. Search the server log for this request id.");
}

/** What it is, as in every answer about it. */
export function aboutProblem({ kind, message, extras: { errors, maybe_done } }: ProblemError) {
  const { title, status } = problems[kind];
  const more = { ...(errors && { errors }), ...(maybe_done && { maybe_done: true as const }) };
  return { type: problemType(kind), title, status, detail: message, ...more };
}

export const problemContentType = "application/problem+json";

/** @example return answerProblem(c.get("request_id"), new ProblemError("not_found", "There is no such job")); */
export function answerProblem(request_id: string, problem: ProblemError, headers?: Record<string, string>): Response {
  const body: Problem = { ...aboutProblem(problem), instance: request_id };
  const all = { ...headers, ...problem.extras.headers };
  return answerText(request_id, body.status, JSON.stringify(body), problemContentType, all);
}
