import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { OpenQueueError, ProblemKind } from "@atlasqueue/contract";
import { hasTime } from "../body/arriving.ts";
import type { Connection } from "../graceful-close.ts";
import { isOpenQueuePath } from "./detail.ts";
import { aboutProblem, problemContentType, ProblemError } from "./problem.ts";

/**
 * Answer what never became a request: bytes that are not HTTP, too many headers, or a client that stalls. For the
 * "clientError" event of Node's server, so there is no response to write to, only the socket.
 */
export function answerClientError(error: NodeJS.ErrnoException, stream: unknown): void {
  const socket = stream as Connection;
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && hasTime(socket._httpMessage?.req)) return;
  // In the middle of an answer another one would be taken for part of it.
  if (!socket.writable || socket._httpMessage?.headersSent) return void socket.destroy();
  const [kind, detail] = problemOf(error.code);
  const body = { ...aboutProblem(new ProblemError(kind, detail)), instance: randomUUID() };
  // If only its body is missing, its headers have arrived.
  const is_ours = !isOpenQueuePath(socket._httpMessage?.req.url ?? "");
  const text = JSON.stringify(is_ours ? body : ({ detail } satisfies OpenQueueError));
  const lines = [
    `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}`,
    `Content-Type: ${is_ours ? problemContentType : "application/json"}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-ID: ${body.instance}`,
    "Connection: close",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${text}`);
  socket.destroySoon();
}

function problemOf(code: string | undefined): [ProblemKind, string] {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return ["request_timeout", "The request did not arrive in time"];
    case "HPE_HEADER_OVERFLOW":
      return ["headers_too_large", "The request line and the headers are too large together"];
    default:
      return ["malformed_request", "This is not an HTTP request"];
  }
}
