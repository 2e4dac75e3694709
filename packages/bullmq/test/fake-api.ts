import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

type Answer = { status: number; body?: unknown };

/** Answers as a test says, until its end. `asked` has the method and the path of each request. */
export async function fakeApi(answer: (asked: string) => Answer) {
  const asked: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    asked.push(`${request.method} ${path}`);
    const { status, body = {} } = answer(`${request.method} ${path}`);
    request.resume();
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
