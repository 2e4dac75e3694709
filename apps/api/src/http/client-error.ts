import { randomUUID } from "node:crypto";
import { STATUS_CODES, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { OpenQueueError, ProblemKind } from "@atlasqueue/contract";
import { isOpenQueuePath } from "../openqueue/errors.ts";
import { problemBody, problemContentType } from "./problem.ts";

/**
 * Answer what never became a request: bytes that are not HTTP, too many headers, or a client that stalls. For the
 * "clientError" event of Node's server, so there is no response to write to, only the socket.
 */
export function answerClientError(error: NodeJS.ErrnoException, stream: unknown): void {
  const socket = stream as Socket & { _httpMessage?: ServerResponse | null };
  // In the middle of an answer another one would be taken for a part of it.
  if (!socket.writable || socket._httpMessage?.headersSent) return void socket.destroy();
  const [kind, detail] = problemOf(error.code);
  const body = problemBody(kind, detail, randomUUID());
  // Its headers have come when only its body has not.
  const openQueue = isOpenQueuePath(socket._httpMessage?.req.url ?? "");
  const text = JSON.stringify(openQueue ? ({ detail } satisfies OpenQueueError) : body);
  const type = openQueue ? "application/json" : problemContentType;
  socket.write(
    `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}\r\nContent-Type: ${type}\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nX-Request-ID: ${body.instance}\r\nConnection: close\r\n\r\n${text}`,
  );
  socket.destroySoon();
}

function problemOf(code: string | undefined): [ProblemKind, string] {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return ["request_timeout", "The request did not arrive in time"];
    case "HPE_HEADER_OVERFLOW":
      return ["headers_too_large", "The request line and the headers are too large together"];
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return ["too_large", "The chunk extensions are too large"];
    default:
      return ["malformed_request", "This is not an HTTP request"];
  }
}
