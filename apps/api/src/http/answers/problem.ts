import { problems, problemType, type Fault, type Problem, type ProblemKind } from "@atlasqueue/contract";
import type { NoRoomError, StorageFullError, TooManyQueuesError } from "@atlasqueue/core/internal/http";
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

/** The answer to an id that is unknown or another tenant's: no one can tell which. */
export function unknownJob(): never {
  throw new ProblemError("not_found", "There is no job with this id");
}

/** The answer to a token under which the job is not, or no longer, held. */
export function leaseLost(): ProblemError {
  return new ProblemError(
    "lease_lost",
    "The lease has ended, was taken over, or is of another job; what was done under it does not count",
  );
}

/** The database is unavailable: try again soon. */
export function unavailable(detail: string, maybe_done = false): ProblemError {
  return new ProblemError("unavailable", detail, { maybe_done, headers: { "retry-after": "1" } });
}

/** Says what is full, and whether the caller's own requests fill it. */
export function noRoom({ message, share }: Pick<NoRoomError, "message"> & { share?: boolean }): ProblemError {
  return new ProblemError(share ? "share_used" : "no_room", message, { headers: { "retry-after": "1" } });
}

/** Unused queues are forgotten about once a minute. */
export function tooManyQueues({ message }: TooManyQueuesError): ProblemError {
  return new ProblemError("too_many_queues", message, { headers: { "retry-after": "60" } });
}

/** What a tenant stores is looked at every ten seconds. */
export function storageFull({ message }: StorageFullError): ProblemError {
  return new ProblemError("storage_full", message, { headers: { "retry-after": "10" } });
}

/** Our own mistake. Log the cause under the request id: the client learns nothing else. */
export function internal(): ProblemError {
  return new ProblemError("internal", "Internal error. Search the server log for this request id.");
}

export function problemBody(kind: ProblemKind, detail: string, request_id: string): Problem {
  const { title, status } = problems[kind];
  return { type: problemType(kind), title, status, detail, instance: request_id };
}

export const problemContentType = "application/problem+json";

/** @example return answerProblem(c.get("request_id"), new ProblemError("not_found", "There is no such job")); */
export function answerProblem(
  request_id: string,
  { kind, message, extras }: ProblemError,
  headers?: Record<string, string>,
): Response {
  const body = problemBody(kind, message, request_id);
  if (extras.errors) body.errors = extras.errors;
  if (extras.maybe_done) body.maybe_done = true;
  const text = JSON.stringify(body);
  return answerText(request_id, body.status, text, problemContentType, { ...headers, ...extras.headers });
}
