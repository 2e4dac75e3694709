import { writeJson } from "@atlasqueue/core/internal/http";
import type { ApiContext } from "../context.ts";

/** What every answer carries. */
export const everywhere = { "x-content-type-options": "nosniff", "cache-control": "no-store" };

/**
 * A JSON answer with the request's id. Its headers are a plain object, which goes to Node as it is: `c.json` and
 * `c.header` build `Headers` first, for a tenth fewer requests per second (60,000 of /health on two cores).
 *
 * @example
 * return answerJson(c, 201, job, { location: `/v1/jobs/${job.id}` });
 */
export function answerJson(c: ApiContext, status: number, body: unknown, headers?: Record<string, string>): Response {
  const limit = c.get("limit_headers");
  const all = limit ? { ...limit, ...headers } : headers;
  return answerText(c.get("request_id"), status, writeJson(body), "application/json", all);
}

/** 204: done, with nothing to say. */
export function answerEmpty(c: ApiContext): Response {
  return new Response(null, {
    status: 204,
    headers: { "x-request-id": c.get("request_id"), ...everywhere, ...c.get("limit_headers") },
  });
}

/** The one place where answers are made. */
export function answerText(
  request_id: string,
  status: number,
  body: string | Uint8Array | null,
  content_type: string,
  headers?: Record<string, string>,
): Response {
  return new Response(body as string | null, {
    status,
    headers: {
      "content-type": content_type,
      "x-request-id": request_id,
      ...everywhere,
      ...headers,
    },
  });
}
