import { randomUUID } from "node:crypto";
import type { OpenQueueError, ProblemKind } from "@atlasqueue/contract";
import { isOpenQueuePath } from "./detail.ts";
import { problemBody, problemContentType } from "./problem.ts";

type PlainProblem = { status: number; headers: Record<string, string | number>; text: string };

/**
 * A problem written by Node, for what hono never sees; the connection ends with it. In the format of its path's
 * surface.
 */
export function plainProblem(kind: ProblemKind, detail: string, path: string): PlainProblem {
  const body = problemBody(kind, detail, randomUUID());
  const openQueue = isOpenQueuePath(path);
  const text = JSON.stringify(openQueue ? ({ detail } satisfies OpenQueueError) : body);
  const headers = {
    "Content-Type": openQueue ? "application/json" : problemContentType,
    "Content-Length": Buffer.byteLength(text),
    "X-Request-ID": body.instance,
    Connection: "close",
    ...(kind === "no_room" && { "Retry-After": "1" }),
    ...(kind === "method_not_allowed" && { Allow: "DELETE, GET, HEAD, POST, PUT" }),
  };
  return { status: body.status, headers, text };
}
