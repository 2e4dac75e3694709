import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ProblemKind } from "@atlasqueue/contract";
import { lingerAfterAnswer } from "../body/linger.ts";
import { hasTime } from "../body/unhurried.ts";
import { plainProblem } from "./plain-problem.ts";

/**
 * Answer what never became a request: bytes that are not HTTP, too many headers, or a client that stalls. For the
 * "clientError" event of Node's server, so there is no response to write to, only the socket.
 */
export function answerClientError(error: NodeJS.ErrnoException, stream: unknown): void {
  const socket = stream as Socket & { _httpMessage?: ServerResponse | null };
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && hasTime(socket._httpMessage?.req)) return;
  // In the middle of an answer another one would be taken for part of it.
  if (!socket.writable || socket._httpMessage?.headersSent) return void socket.destroy();
  const [kind, detail] = problemOf(error.code);
  // If only its body is missing, its headers have arrived.
  sayProblem(socket, kind, detail, socket._httpMessage?.req.url ?? "");
}

/** For the "connect" event: we are not a proxy. */
export function refuseConnect(request: IncomingMessage, stream: Duplex): void {
  // Node has let go of it, with all its listeners: a client that resets it would bring the process down.
  stream.on("error", () => {});
  stream.resume();
  lingerAfterAnswer(request);
  // Node says that it is a socket, unless it was handed another stream.
  sayProblem(stream as Socket, "method_not_allowed", "This is not a proxy: CONNECT is not accepted", "");
}

/** Write a problem to a socket for which there is no response, in the format of its path's surface, and hang up. */
function sayProblem(socket: Socket, kind: ProblemKind, detail: string, path: string): void {
  const { status, headers, text } = plainProblem(kind, detail, path);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${text}`);
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
