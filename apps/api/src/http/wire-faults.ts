import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ProblemKind } from "@atlasqueue/contract";
import { lingerAfterAnswer } from "./body/linger.ts";
import { plainProblem } from "./answers/plain-problem.ts";

/** Far more than clients and proxies send. Node keeps some hundred bytes of each, however short it is. */
const header_lines_max = 200;

export type WireFault = { kind: ProblemKind; detail: string };

/**
 * What is wrong with a request that Node accepts but others read differently, so that a proxy in front of us might have
 * meant another one: two Hosts, of which Node keeps the first, and body codings that Node passes on undecoded. And headers
 * that take far more room than their bytes, and an expectation that we don't know.
 */
export function wireFaultOf(incoming: IncomingMessage): WireFault | undefined {
  const lines = incoming.rawHeaders.length / 2;
  if (lines > header_lines_max)
    return {
      kind: "headers_too_large",
      detail: `A request may have at most ${header_lines_max} headers; got ${lines}`,
    };
  const { expect } = incoming.headers;
  if (expect !== undefined && !/^100-continue$/i.test(expect))
    return {
      kind: "expectation_failed",
      detail: `Expect may only be 100-continue; got ${JSON.stringify(expect.slice(0, 100))}`,
    };
  const detail = readDifferently(incoming);
  return detail === undefined ? undefined : { kind: "malformed_request", detail };
}

function readDifferently({ headers, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  const coding = headers["transfer-encoding"];
  // Which knows none, and goes by the length alone.
  if (coding !== undefined && httpVersion === "1.0") return "HTTP/1.0 has no Transfer-Encoding; send a Content-Length";
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    return `Transfer-Encoding must be chunked and nothing else; got ${JSON.stringify(coding.slice(0, 100))}`;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  return hosts > 1 ? "The Host was sent more than once" : undefined;
}

const refused = new WeakSet<Socket>();

/** Whether a request on this connection was refused: no request after it is carried out. */
export const isRefused = (socket: Socket): boolean => refused.has(socket);

/** Answer without hono, and disconnect: others may read what follows on the connection as another request. */
export function refuse(incoming: IncomingMessage, outgoing: ServerResponse, kind: ProblemKind, detail: string): void {
  const { status, headers, text } = plainProblem(kind, detail, incoming.url ?? "");
  refused.add(incoming.socket);
  lingerAfterAnswer(incoming);
  outgoing.writeHead(status, headers).end(text);
}
