import { z } from "zod";
import { describeFields } from "../checks/field-texts.ts";
import { problems, problemType, type ProblemKind } from "./problem.ts";

/** What the page about a problem says: what the response means, what causes it, and what to do. */
export type ProblemPage = { meaning: string; cause: string; fix: string };

/** The pages that the API serves at the `type` of its problems. */
export const problemPages: Record<ProblemKind, ProblemPage> = {
  malformed_json: {
    meaning: "The API could not read the body as JSON.",
    cause: "The body is empty, cut off, has a trailing comma, or is not UTF-8.",
    fix: "Send one complete JSON document. `detail` says where reading stopped.",
  },
  malformed_request: {
    meaning: "The API could not read the request's path, query, headers or cursor.",
    cause: "A percent sign without a code, a header that was sent twice, or a cursor that was changed.",
    fix: "Encode the path and the query, and send `next_cursor` back unchanged.",
  },
  unauthorized: {
    meaning: "The request needs a valid token.",
    cause: "There is no `Authorization: Bearer aq_…` header, or the token has expired or was revoked.",
    fix: "Send a valid token. Create one with `atlasqueue tokens create`.",
  },
  forbidden: {
    meaning: "The token is valid, but does not allow this request.",
    cause: "The token lacks the scope that `detail` names, or is not of the default tenant.",
    fix: "Use a token with that scope.",
  },
  foreign_origin: {
    meaning: "The API refused a request that another site's page sent.",
    cause: "The request's `Origin` is not the API's own address.",
    fix: "Call the API from a server, or set `ALLOWED_HOSTS` to the names that your proxy uses.",
  },
  not_found: {
    meaning: "There is no such path, job, queue, schedule or other resource.",
    cause: "The id is wrong, retention removed the resource, or it belongs to another tenant.",
    fix: "Check the address and the token's tenant.",
  },
  method_not_allowed: {
    meaning: "The path exists, but not with this method.",
    cause: "The request used GET in place of POST, for example.",
    fix: "Use one of the methods in the `Allow` header.",
  },
  request_timeout: {
    meaning: "The body did not arrive in time.",
    cause: "The client or the network stalled while the body was sent.",
    fix: "Send the request again with the same idempotency key.",
  },
  already_exists: {
    meaning: "The name is in use.",
    cause: "Another schedule of the tenant has this name.",
    fix: "Choose another name, or replace the schedule with PUT.",
  },
  too_many_schedules: {
    meaning: "The tenant has 1,000 schedules, which is the limit.",
    cause: "Schedules are created and never deleted.",
    fix: "Delete schedules, or let one schedule submit the others' jobs.",
  },
  too_many_operations: {
    meaning: "The tenant has 20 unfinished operations, which is the limit.",
    cause: "Bulk operations and replays are started faster than they finish.",
    fix: "Wait for an operation to finish, or cancel one.",
  },
  operation_over: {
    meaning: "The operation has finished or was cancelled.",
    cause: "The request would pause, resume or cancel an operation that is over.",
    fix: "Nothing is left to do. Start a new operation if you need one.",
  },
  lease_token_used: {
    meaning: "The `lease_token` was used for another request.",
    cause: "Two lease requests with different bodies sent the same token.",
    fix: "Make a new UUID for each lease request. Repeat a token only with the same request.",
  },
  lease_lost: {
    meaning: "The worker no longer holds the job.",
    cause: "The lease expired, the job was cancelled, or the token is wrong.",
    fix: "Abort the handler and drop its result. Send heartbeats more often, or take longer leases.",
  },
  job_not_finished: {
    meaning: "Only a finished job can be deleted.",
    cause: "The job still waits or runs.",
    fix: "Cancel the job first, or purge it.",
  },
  job_awaited: {
    meaning: "Other jobs depend on this job, so it can't be deleted.",
    cause: "Jobs of a flow wait for its result.",
    fix: "Wait for those jobs to finish, or cancel them.",
  },
  job_finished: {
    meaning: "The job has finished, so it can't be cancelled or changed.",
    cause: "The job finished before the request arrived.",
    fix: "Read the job. Nothing else is left to do.",
  },
  not_retryable: {
    meaning: "Only a dead, cancelled or failed job can be retried.",
    cause: "The job still waits, runs or has succeeded.",
    fix: "Read the job's status. Submit a new job to run it once more.",
  },
  too_many_tokens: {
    meaning: "The tenant has 200 valid tokens, which is the limit.",
    cause: "Tokens are created without an end and never revoked.",
    fix: "Revoke tokens that are not used, or create tokens that expire.",
  },
  token_rotated: {
    meaning: "The token has been replaced already.",
    cause: "An earlier request rotated it.",
    fix: "Use its successor, or create a new token.",
  },
  unique_conflict: {
    meaning: "An active job has the same unique key.",
    cause: "The job was submitted with `unique.on_conflict` of `reject`.",
    fix: "Wait for that job, or use `return` or `replace`.",
  },
  idempotency_under_way: {
    meaning: "A request with the same idempotency key is still being carried out.",
    cause: "The request was repeated before the first one ended.",
    fix: "Send the request again after `Retry-After`.",
  },
  too_large: {
    meaning: "The body, the payload, the result or another part is too large.",
    cause: "A limit was exceeded. `detail` names it.",
    fix: "Store large data elsewhere and send a reference, or split the batch.",
  },
  not_json: {
    meaning: "The body's type is not JSON.",
    cause: "The `Content-Type` is missing, or is not `application/json`.",
    fix: "Send `Content-Type: application/json`.",
  },
  not_lines: {
    meaning: "The body's type is not lines of JSON.",
    cause: "The `Content-Type` of a stream is not `application/x-ndjson`.",
    fix: "Send `Content-Type: application/x-ndjson`.",
  },
  validation: {
    meaning: "Fields, parameters or headers of the request are invalid.",
    cause: "`errors` names each part, what it accepts, and what it got.",
    fix: "Correct the request. Sending it unchanged fails again.",
  },
  idempotency_mismatch: {
    meaning: "The idempotency key was used for another request.",
    cause: "Two different requests share a key.",
    fix: "Use one key for each request, and the same body whenever you repeat it.",
  },
  rate_limited: {
    meaning: "The tenant or the address has sent too many requests.",
    cause: "The rate that `RATE_LIMIT_REQUESTS` allows is used up.",
    fix: "Wait for `Retry-After`. Submit in batches.",
  },
  too_many_queues: {
    meaning: "The tenant has as many queues as `QUEUES_PER_TENANT_MAX` allows.",
    cause: "Queue names are made from ids or dates.",
    fix: "Use few queues, and groups or types within them. Unused queues are forgotten after a minute.",
  },
  storage_full: {
    meaning: "The tenant's jobs take as much space as `STORED_BYTES_PER_TENANT_MAX` allows.",
    cause: "Jobs are kept for long, have large payloads, or are not run.",
    fix: "Delete finished jobs, keep them for less time, or raise the quota.",
  },
  share_used: {
    meaning: "The tenant's own requests use its part of the server's capacity.",
    cause: "Too many requests of the tenant are in flight, or their bodies are too large together.",
    fix: "Wait for `Retry-After`, and send fewer requests at once.",
  },
  headers_too_large: {
    meaning: "The request's headers are too large.",
    cause: "Cookies or tracing headers add up.",
    fix: "Send fewer or shorter headers.",
  },
  internal: {
    meaning: "A bug in AtlasQueue, or a fault of its server.",
    cause: "The server's log has the cause under the request id.",
    fix: "Search the log for the `instance` of the response, and report the bug.",
  },
  no_room: {
    meaning: "The server has no memory or connection free for the request.",
    cause: "All tenants together send more than this process can take.",
    fix: "Send the request again with the same key after `Retry-After`. Run more API processes.",
  },
  signal_unavailable: {
    meaning: "The response would come from Redis, which is unavailable.",
    cause: "Redis is down or refuses writes. Workers announce themselves only there.",
    fix: "Restore Redis. Jobs are accepted and run without it.",
  },
  unavailable: {
    meaning: "PostgreSQL is unavailable, so nothing can be stored or read.",
    cause: "PostgreSQL is down, read-only, or responds too slowly.",
    fix: "Send the request again with the same key after `Retry-After`.",
  },
};

/** What the API responds with at the `type` of a problem. */
export const problemPageShown = describeFields(
  z.strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    meaning: z.string(),
    cause: z.string(),
    fix: z.string(),
  }),
  {
    type: "The kind of the problem, as the address of this page.",
    title: "The kind of the problem in words.",
    status: "The HTTP status of the responses.",
    meaning: "What such a response means.",
    cause: "What causes it.",
    fix: "What to do.",
  },
);

/** @example problemPage("lease_lost"); // { type: "/problems/lease-lost", title, status: 409, meaning, cause, fix } */
export const problemPage = (kind: ProblemKind) => ({
  type: problemType(kind),
  ...problems[kind],
  ...problemPages[kind],
});

/** The page for people. Code in a text stands between backticks, and no text has a character that HTML would read. */
export function problemHtml(kind: ProblemKind): string {
  const { title, status, meaning, cause, fix } = problemPage(kind);
  const code = (text: string) => text.replaceAll(/`([^`]+)`/g, "<code>$1</code>");
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title} · AtlasQueue</title>
    <style>
      :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
      body { max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
    </style>
  </head>
  <body>
    <h1>${title}</h1>
    <p>Status ${status}, type <code>${problemType(kind)}</code></p>
    <h2>What it means</h2>
    <p>${code(meaning)}</p>
    <h2>Cause</h2>
    <p>${code(cause)}</p>
    <h2>What to do</h2>
    <p>${code(fix)}</p>
    <p><a href="../docs">API reference</a> · <a href="../guide/reference/errors">All problems</a></p>
  </body>
</html>
`;
}
