import {
  attempt,
  job,
  openQueueError,
  openQueueJob,
  openQueueSubmit,
  problem,
  queue,
  schedule,
  settleRequest,
  submitBatch,
  submitSingle,
} from "@atlasqueue/contract";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponseObject } from "zod-openapi";
import { z } from "zod";
import { idempotencyKey, lineTypes, tags, type Answer, isOncePerKey, type Operation } from "../route/operation.ts";
import { header, problemAnswers } from "./problems.ts";
import { version } from "../docs/version.ts";
import { showSchema } from "./show-schema.ts";

export type OpenApiDocument = ReturnType<typeof createDocument>;

/**
 * The OpenAPI 3.1 document of this API, built from the schemas that check its requests and answers.
 *
 * @example
 * const { paths } = openApiDocument(operations);
 */
export function openApiDocument(operations: readonly Operation[]): OpenApiDocument {
  const document = createDocument(
    {
      openapi: "3.1.1",
      info: {
        title: "AtlasQueue",
        version,
        description: about,
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: ".", description: "The server this document came from." }],
      tags: Object.entries(tags)
        .filter(([name]) => operations.some(({ tag }) => tag === name))
        .map(([name, description]) => ({ name, description })),
      paths: pathsOf(operations),
      components: {
        schemas: {
          Job: job,
          Attempt: attempt,
          Queue: queue,
          Schedule: schedule,
          Problem: problem,
          SubmitJob: submitSingle,
          SubmitBatch: submitBatch,
          SettleRequest: settleRequest,
          OpenQueueJob: openQueueJob,
          OpenQueueSubmit: openQueueSubmit,
          OpenQueueError: openQueueError,
        },
        securitySchemes: {
          bearer: {
            type: "http",
            scheme: "bearer",
            description: "A token, `aq_…`. With `AUTH=disabled`, the default on loopback, none is needed.",
          },
        },
      },
    },
    // Shown by their `meta`, which says what a custom check takes.
    { override: showSchema, allowEmptySchema: { custom: true } },
  );
  for (const { parameters } of Object.values(document.paths ?? {}).flatMap((item) => Object.values(item)))
    for (const parameter of parameters ?? []) sayOnce(parameter);
  return document;
}

/** Parameters come with their schema's description, and as `describe` has it. */
function sayOnce(parameter: { description?: string; schema?: { description?: string } }): void {
  if (parameter.schema?.description) parameter.description = parameter.schema.description;
  delete parameter.schema?.description;
}

const about = `A background job queue for teams that run PostgreSQL. Redis is optional.

Times are RFC 3339, UTC, with milliseconds. Ids are UUIDs, in any case. Unknown fields and query parameters are refused.
Every response has \`X-Request-ID\`: the caller's own when it is well-formed, otherwise a new one. Every error is
\`application/problem+json\` with that id as its \`instance\`; OpenQueue's operations have their own format.`;

function pathsOf(operations: readonly Operation[]): Record<string, Record<string, ZodOpenApiOperationObject>> {
  const found: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations) (found[operation.path] ??= {})[operation.method] = show(operation);
  return found;
}

function show(operation: Operation): ZodOpenApiOperationObject {
  const { id, tag, summary, description, scope, request = {} } = operation;
  const { path, query, body } = request;
  const headers = headersOf(operation);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: scope ? [scope].flat().map((one) => ({ bearer: [one] })) : [],
    requestParams: { ...(path && { path }), ...(query && { query }), ...(headers && { header: headers }) },
    ...(body && {
      requestBody: {
        required: !body.optional,
        content: { [body.lines ? lineTypes[0] : "application/json"]: { schema: body.schema, example: body.example } },
      },
    }),
    responses: responsesOf(operation),
  };
}

/** Its answers and its problems; where both have a status, they have two formats. */
function responsesOf(operation: Operation): Record<string, ZodOpenApiResponseObject> {
  const shown = Object.entries(operation.answers).flatMap(([status, answer]): [string, ZodOpenApiResponseObject][] =>
    answer ? [[status, showAnswer(isOncePerKey(operation) ? underKey(answer) : answer)]] : [],
  );
  const responses = Object.fromEntries(shown);
  for (const [status, failed] of Object.entries(problemAnswers(operation))) {
    const own = responses[status];
    responses[status] = own
      ? {
          ...failed,
          description: `${own.description} ${failed.description}`,
          content: { ...own.content, ...failed.content },
        }
      : failed;
  }
  return responses;
}

/** An act sent again under its key is answered as things are now. */
const underKey = (answer: Answer): Answer => ({
  ...answer,
  some_headers: { ...answer.some_headers, "Idempotency-Replayed": "`true` when the key was used before." },
});

/** What a request says in headers, including the key. */
function headersOf({ request: { headers, idempotency_key: key } = {} }: Operation): z.ZodObject | undefined {
  if (!key) return headers;
  const shown = z.strictObject({ "Idempotency-Key": key === "optional" ? idempotencyKey.optional() : idempotencyKey });
  return headers ? shown.extend(headers.shape) : shown;
}

function showAnswer({
  description,
  schema,
  content_type,
  headers,
  some_headers,
  example,
}: Answer): ZodOpenApiResponseObject {
  const answer: ZodOpenApiResponseObject = { description };
  if (schema)
    answer.content = { [content_type ?? "application/json"]: { schema, ...(example !== undefined && { example }) } };
  const all = [...showHeaders(headers, true), ...showHeaders(some_headers, false)];
  if (all.length > 0) answer.headers = Object.fromEntries(all);
  return answer;
}

const showHeaders = (headers: Record<string, string> = {}, required: boolean) =>
  Object.entries(headers).map(([name, description]) => [name, header(description, required)] as const);
