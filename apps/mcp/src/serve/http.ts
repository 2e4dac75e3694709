import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { buildServer, type ServerOptions } from "../server/build.ts";

/** A message that came over HTTP: its headers, and its body, read and parsed. */
export type Message = { headers: Headers; body: unknown; signal: AbortSignal };

export type MessageAnswer = { status: number; body: unknown };

/**
 * Answer one message, without any session: what a message needs, it brings along. Clients of 2026-07-28 say their
 * version and capabilities in each; those before it are answered as they expect. Answers are JSON, never a stream: no
 * tool says anything before it is done, and nothing is subscribed to.
 *
 * Who may ask, and how large a message may be, is the caller's business.
 *
 * @example
 * const { status, body } = await answerMessage(options, { headers, body: await request.json(), signal });
 */
export async function answerMessage(options: ServerOptions, message: Message): Promise<MessageAnswer> {
  const request = requestOf(message);
  const parsedBody = message.body;
  const response = (await isLegacyRequest(request, parsedBody))
    ? await answerLegacy(options, request, message)
    : await createMcpHandler(() => buildServer(options, "modern"), {
        legacy: "reject",
        maxSubscriptions: 0,
        keepAliveMs: 0,
      }).fetch(request, { parsedBody });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}

async function answerLegacy(
  options: ServerOptions,
  request: Request,
  { body: parsedBody, signal }: Message,
): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true, keepAliveMs: 0 });
  const server = buildServer(options, "legacy");
  await server.connect(transport);
  try {
    // This transport does not look at the request's signal, and never answers once it is closed.
    return await Promise.race([transport.handleRequest(request, { parsedBody }), hungUp(signal)]);
  } finally {
    // Ends what a tool still waits for.
    await server.close();
  }
}

/** Resolves with an answer that is not sent. */
function hungUp(signal: AbortSignal): Promise<Response> {
  return new Promise((resolve) => {
    const end = () => resolve(new Response(null, { status: 499 }));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

/** The body was read before, so the request has none; the caller's identity is not the protocol's business; and it may be answered with JSON, whatever it says. */
function requestOf({ headers: given, signal }: Message): Request {
  const headers = new Headers(given);
  for (const name of ["content-length", "authorization", "cookie"]) headers.delete(name);
  headers.set("content-type", "application/json");
  headers.set("accept", "application/json, text/event-stream");
  return new Request("http://localhost/mcp", { method: "POST", headers, signal });
}
