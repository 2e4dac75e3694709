import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type ReceivedRequest = {
  readonly method: string;
  /** With its query string. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** "hang_up" cuts the connection without an answer. */
export type Answer =
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  | "hang_up";

export type HttpReceiver = {
  /** Without a trailing slash. */
  readonly url: string;
  /** All requests so far, oldest first, recorded before the handler is called. */
  readonly requests: readonly ReceivedRequest[];
  /** Ends it at once, open requests included; may be called twice. */
  close(): Promise<void>;
};

/**
 * A local HTTP server that records what it is sent and answers what the handler says; 200 without one. A handler that
 * never resolves is a server that never answers; one that throws answers 500 with its message.
 *
 * @example
 * const receiver = await httpReceiver(({ path }) => ({ status: path === "/down" ? 503 : 204 }));
 * await eventually(() => receiver.requests.length === 1);
 */
export async function httpReceiver(
  handler: (request: ReceivedRequest) => Answer | Promise<Answer> = () => ({}),
): Promise<HttpReceiver> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const request = await receive(incoming).catch(() => undefined);
    if (!request) return;
    requests.push(request);
    try {
      send(response, await handler(request));
    } catch (error) {
      send(response, { status: 500, body: String(error) });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function receive(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const { method = "", url: path = "", headers } = incoming;
  return { method, path, headers, body: await text(incoming) };
}

function send(response: ServerResponse, answer: Answer): void {
  if (answer === "hang_up") {
    response.destroy();
    return;
  }
  response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
}
