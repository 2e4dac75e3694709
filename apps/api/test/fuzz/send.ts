import { once } from "node:events";
import { request, type Agent, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import type { FuzzedRequest } from "./requests.ts";

/** Sends what `fetch` would refuse or put right. Rejects when the server hangs up without an answer. */
export function send(port: number, agent: Agent, { method, target, headers, body }: FuzzedRequest): Promise<Response> {
  return new Promise((resolve, reject) => {
    // Node sends none with a GET, and its body would be read as the next request.
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const outgoing = request(
      { host: "127.0.0.1", port, agent, method, path: target, headers: { ...headers, ...length } },
      (incoming) => {
        const goes_on = incoming.headers["content-type"] === "text/event-stream";
        const answered = (goes_on ? firstOf(incoming) : buffer(incoming)).then((bytes) => {
          const status = incoming.statusCode ?? 0;
          return new Response(status === 204 || status === 304 ? null : new Uint8Array(bytes), {
            status,
            headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
          });
        });
        answered.then(resolve, reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Of an answer that goes on, what comes first. */
async function firstOf(incoming: IncomingMessage): Promise<Buffer> {
  const [bytes] = (await once(incoming, "data")) as [Buffer];
  incoming.destroy();
  return bytes;
}
