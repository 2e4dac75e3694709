import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * An API as a later version may be: the same one, with another field in every object it answers with.
 *
 * @example
 * const newer = await newerApi(world.api.url);
 */
export async function newerApi(url: string) {
  const server = createServer((request, response) => {
    const pass = async () => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk as Uint8Array);
      const { authorization, "content-type": type, "idempotency-key": key } = request.headers;
      const given = Object.entries({
        authorization,
        "content-type": type,
        "idempotency-key": key as string | undefined,
      });
      const answer = await fetch(`${url}${request.url}`, {
        method: request.method ?? "GET",
        headers: given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as [string, string]])),
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      const replayed = answer.headers.get("idempotency-replayed");
      const headers = { "content-type": "application/json", ...(replayed && { "idempotency-replayed": replayed }) };
      const text = await answer.text();
      response.writeHead(answer.status, headers).end(JSON.stringify(later(JSON.parse(text))));
    };
    pass().catch((error: unknown) => response.writeHead(502).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => void server.close().closeAllConnections(),
  };
}

/** What jobs carry is their owner's, and stays as it is. */
const theirs = new Set(["payload", "result", "progress"]);

function later(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(later);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, of]) => [name, theirs.has(name) ? of : later(of)]);
  return { ...Object.fromEntries(fields), since_then: 17 };
}
