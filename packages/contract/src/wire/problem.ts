import { z } from "zod";
import { describeFields } from "../checks/field-texts.ts";

/** Every error the API can answer with. The key, with dashes, is the last part of the problem's `type`. */
export const problems = {
  malformed_json: { status: 400, title: "The body is not valid JSON" },
  malformed_request: { status: 400, title: "The request is malformed" },
  unauthorized: { status: 401, title: "A valid token is required" },
  forbidden: { status: 403, title: "The token does not allow this" },
  foreign_origin: { status: 403, title: "The request came from another site's page" },
  not_found: { status: 404, title: "Not found" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  request_timeout: { status: 408, title: "The body did not arrive in time" },
  already_exists: { status: 409, title: "Name already in use" },
  too_many_schedules: { status: 409, title: "Schedule limit reached (1,000)" },
  too_many_operations: { status: 409, title: "Limit of unfinished operations reached (20)" },
  operation_over: { status: 409, title: "The operation has finished" },
  lease_token_used: { status: 409, title: "This lease_token was used for another request" },
  lease_lost: { status: 409, title: "The lease was lost" },
  job_not_finished: { status: 409, title: "Only a finished job can be deleted" },
  job_awaited: { status: 409, title: "Other jobs depend on this job" },
  job_finished: { status: 409, title: "The job has finished" },
  not_retryable: { status: 409, title: "Only a dead, cancelled or failed job can be retried" },
  too_many_tokens: { status: 409, title: "Token limit reached (200)" },
  token_rotated: { status: 409, title: "The token was rotated already" },
  unique_conflict: { status: 409, title: "Another job has this unique key" },
  idempotency_under_way: { status: 409, title: "A request with this Idempotency-Key is in progress" },
  too_large: { status: 413, title: "Too large" },
  not_json: { status: 415, title: "The body must be application/json" },
  not_lines: { status: 415, title: "The body must be application/x-ndjson" },
  validation: { status: 422, title: "The request is not valid" },
  idempotency_mismatch: { status: 422, title: "This Idempotency-Key was used for another request" },
  rate_limited: { status: 429, title: "Too many requests" },
  too_many_queues: { status: 429, title: "Queue limit reached" },
  storage_full: { status: 429, title: "Storage quota exceeded" },
  share_used: { status: 429, title: "Tenant quota exceeded" },
  headers_too_large: { status: 431, title: "The headers are too large" },
  internal: { status: 500, title: "Internal error" },
  no_room: { status: 503, title: "The server is overloaded; try again with the same Idempotency-Key" },
  signal_unavailable: { status: 503, title: "Redis is unavailable; this information is stored only there" },
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
