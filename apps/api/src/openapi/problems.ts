import {
  openQueueError,
  problem,
  problems,
  problemType,
  type OpenQueueError,
  type ProblemKind,
} from "@atlasqueue/contract";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import { problemContentType } from "../http/answers/problem.ts";
import { isOncePerKey, type Operation } from "../route/operation.ts";

/** What any request can end in, whatever it asks for. */
const everyRequest: ProblemKind[] = ["malformed_request", "internal"];
/** What asking for a token can end in. */
const everyToken: ProblemKind[] = ["unauthorized", "forbidden", "rate_limited", "share_used", "no_room", "unavailable"];
/** What reading a JSON body can end in. */
const everyBody: ProblemKind[] = [
  "malformed_json",
  "not_json",
  "too_large",
  "request_timeout",
  "validation",
  "share_used",
  "no_room",
];
/** What reading lines can end in before there is an answer: what is wrong with a line is told by its own. */
const everyLines: ProblemKind[] = ["not_lines", "validation", "share_used", "no_room"];

/** What an act under an idempotency key can end in. */
const everyKeyedAct: ProblemKind[] = ["idempotency_under_way", "idempotency_mismatch"];

/** Every kind of problem an operation can answer with. */
export function problemsOf(operation: Operation): ProblemKind[] {
  const { scope, request, any_query, problems: own = [] } = operation;
  const of_method: ProblemKind[] = operation.method === "get" ? [] : ["foreign_origin"];
  const of_token = scope ? everyToken : [];
  const of_body = !request?.body ? [] : request.body.lines ? everyLines : everyBody;
  // A parameter that there is not is refused.
  const of_query: ProblemKind[] = any_query ? [] : ["validation"];
  const of_key = isOncePerKey(operation) ? everyKeyedAct : [];
  return [...new Set([...everyRequest, ...of_method, ...of_token, ...of_body, ...of_query, ...own, ...of_key])];
}

/** The error answers of an operation: one for each status, with an example for each kind of problem. */
export function problemAnswers(operation: Operation): Record<string, ZodOpenApiResponseObject> {
  const byStatus = Map.groupBy(problemsOf(operation), (kind) => problems[kind].status);
  const show = operation.tag === "OpenQueue" ? detailContent : problemContent;
  return Object.fromEntries(
    [...byStatus].map(([status, kinds]): [string, ZodOpenApiResponseObject] => {
      const description = kinds.map((kind) => `${problems[kind].title}.`).join(" ");
      // Where no token is required, 503 may also mean that something is switched off, not that it will be back.
      const maybe = (status === 503 && !operation.scope) || (status === 409 && isOncePerKey(operation));
      const headers = maybe ? { "Retry-After": retryAfterMaybe } : headersOf[status];
      return [String(status), { description, content: show(kinds), ...(headers && { headers }) }];
    }),
  );
}

const problemContent = (kinds: ProblemKind[]) => ({
  [problemContentType]: {
    schema: problem,
    examples: Object.fromEntries(kinds.map((kind) => [kind, { value: exampleOf(kind) }])),
  },
});

const detailContent = (kinds: ProblemKind[]) => ({
  "application/json": {
    schema: openQueueError,
    examples: Object.fromEntries(kinds.map((kind) => [kind, { value: detailOf(kind) }])),
  },
});

export const header = (description: string, required = true) => ({
  description,
  required,
  schema: { type: "string" } as const,
});
const retryAfter = header("Seconds to wait before trying again.");
const retryAfterMaybe = header("Seconds to wait before trying again, where that helps.", false);

const headersOf: Record<number, ZodOpenApiResponseObject["headers"]> = {
  401: { "WWW-Authenticate": header("`Bearer`, and what is wrong with the token.") },
  429: {
    "Retry-After": retryAfter,
    RateLimit: header("What is left of a rate limit, as draft-ietf-httpapi-ratelimit-headers has it.", false),
    "RateLimit-Policy": header("The limit itself.", false),
  },
  503: { "Retry-After": retryAfter },
};

function exampleOf(kind: ProblemKind) {
  const { status, title } = problems[kind];
  const errors = kind === "validation" ? { errors: [{ pointer: "/max_attempts", message: fault }] } : {};
  const detail = kind === "validation" ? `/max_attempts ${fault}` : title;
  return {
    type: problemType(kind),
    title,
    status,
    detail,
    instance: "0c9a2f5e-8a51-4a34-9d35-1f7a5f1f6b0e",
    ...errors,
  };
}

const fault = "must be an integer from 1 to 25; got 26";

/** The same in OpenQueue's format. */
function detailOf(kind: ProblemKind): OpenQueueError {
  if (kind !== "validation") return { detail: problems[kind].title };
  const msg = "must be an integer from 0 to 24; got 25";
  return { detail: [{ loc: ["body", "max_retries"], msg, type: "value_error" }] };
}
