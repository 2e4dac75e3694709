import { z } from "zod";
import { describeFields } from "../checks/field-texts.ts";

/** Every error the API can answer with. The key, with dashes, is the last part of the problem's `type`. */
export const problems = {
  malformed_json: { status: 400, title: "The body is not valid JSON" },
  malformed_request: { status: 400, title: "The request is malformed" },
  unauthorized: { status: 401, title: "This needs a valid token" },
  forbidden: { status: 403, title: "The token does not allow this" },
  foreign_origin: { status: 403, title: "The request came from another site's page" },
  not_found: { status: 404, title: "There is nothing here" },
  method_not_allowed: { status: 405, title: "This path does not take that method" },
  request_timeout: { status: 408, title: "The body did not arrive in time" },
  already_exists: { status: 409, title: "There is one with this name already" },
  too_many_schedules: { status: 409, title: "There are as many schedules as there may be" },
  too_many_operations: { status: 409, title: "There are as many unfinished operations as there may be" },
  operation_over: { status: 409, title: "The operation is over" },
  lease_token_used: { status: 409, title: "This lease_token belongs to another request" },
  lease_lost: { status: 409, title: "The job is not held under this lease any more" },
  job_not_finished: { status: 409, title: "Only a finished job can be deleted" },
  job_awaited: { status: 409, title: "Other jobs wait for this one" },
  job_finished: { status: 409, title: "The job has finished" },
  not_retryable: { status: 409, title: "Only a dead, cancelled or failed job can be retried" },
  too_many_tokens: { status: 409, title: "The tenant has as many tokens as it may" },
  token_rotated: { status: 409, title: "The token has a successor already" },
  unique_conflict: { status: 409, title: "A job with this unique key is already there" },
  idempotency_under_way: { status: 409, title: "A request with this Idempotency-Key is under way" },
  too_large: { status: 413, title: "Too large" },
  not_json: { status: 415, title: "The body must be application/json" },
  not_lines: { status: 415, title: "The body must be application/x-ndjson" },
  expectation_failed: { status: 417, title: "This expectation cannot be met" },
  validation: { status: 422, title: "The request is not valid" },
  idempotency_mismatch: { status: 422, title: "This Idempotency-Key was used for another request" },
  rate_limited: { status: 429, title: "Too many requests" },
  too_many_queues: { status: 429, title: "The tenant has as many queues as it may" },
  storage_full: { status: 429, title: "The tenant stores as much as it may" },
  share_used: { status: 429, title: "The tenant uses its share already" },
  headers_too_large: { status: 431, title: "The headers are too large" },
  internal: { status: 500, title: "Something went wrong on our side" },
  no_room: { status: 503, title: "The server has no room for this now; try again with the same Idempotency-Key" },
  signal_unavailable: { status: 503, title: "Redis is away, and only it knows this" },
  unavailable: { status: 503, title: "The database is unavailable; try again with the same Idempotency-Key" },
} as const satisfies Record<string, { status: number; title: string }>;
export type ProblemKind = keyof typeof problems;

/**
 * The body of every error on /v1 (RFC 9457, application/problem+json). `instance` is the request id. With
 * `maybe_done` the request, or a part of it, may have been carried out: sent again, it may be done twice.
 */
export const problem = describeFields(
  z.strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    errors: z
      .array(
        describeFields(z.strictObject({ pointer: z.string(), message: z.string() }), {
          pointer: "Where the value is: a JSON pointer, or `query:` or `path:` and a name.",
          message: "What is wrong, and what is accepted.",
        }),
      )
      .optional(),
    maybe_done: z.literal(true).optional(),
  }),
  {
    type: "The kind of the problem, as the address of a page about it.",
    title: "The kind of the problem in words.",
    status: "The HTTP status of the response.",
    detail: "What happened, and what to do.",
    instance: "The request's id. The server's log has it.",
    errors: "Each part of the request that is invalid.",
    maybe_done: "True if the request may have been carried out, at least in part.",
  },
);
export type Problem = z.infer<typeof problem>;

/** @example problemType("idempotency_mismatch"); // "/problems/idempotency-mismatch" */
export function problemType(kind: ProblemKind): string {
  return `/problems/${kind.replaceAll("_", "-")}`;
}
