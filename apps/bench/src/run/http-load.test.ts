import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { loadOverHttp } from "./http-load.ts";

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(["with a length", "in chunks"])("every request is answered, %s, and has its own key", async (how) => {
  const keys = new Set<unknown>();
  let open = 0;
  let open_max = 0;
  const server = createServer((request, response) => {
    open_max = Math.max(open_max, (open += 1));
    keys.add(request.headers["idempotency-key"]);
    let body = "";
    request.on("data", (data: Buffer) => (body += data.toString()));
    request.on("end", () => {
      open -= 1;
      response.statusCode = 201;
      if (how === "in chunks") response.write("ö");
      response.end(JSON.stringify(JSON.parse(body)));
    });
  });
  const url = await listen(server);
  const bodyOf = (n: number) => JSON.stringify({ n, text: "ö" });
  expect(await loadOverHttp({ url, connections: 5, bodyOf, goOn: (sent) => sent < 100 })).toBe(100);
  expect(keys.size).toBe(100);
  expect(open_max).toBeLessThanOrEqual(5);
});

test("an answer other than 201 ends it", async () => {
  const server = createServer((_request, response) => {
    response.statusCode = 503;
    response.end("away");
  });
  const url = await listen(server);
  const load = loadOverHttp({ url, connections: 2, bodyOf: () => "{}", goOn: () => true });
  await expect(load).rejects.toThrow("HTTP/1.1 503");
});
