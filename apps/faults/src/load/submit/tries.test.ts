import { createServer, type RequestListener } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { insist } from "./insist.ts";
import { countedFetch, countingTries } from "./tries.ts";

/** What a call learns whose first request is answered so, and whose second one is refused. */
async function askedOf(first: RequestListener): Promise<{ status: number; unanswered: boolean }> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    if (asked === 1) first(request, response);
    else response.writeHead(409).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const { value: status, unanswered } = await countingTries(async () => {
      await countedFetch(url).then(
        (answer) => answer.text(),
        () => {},
      );
      return (await countedFetch(url)).status;
    });
    return { status, unanswered };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const problem =
  (fields: object): RequestListener =>
  (_request, response) =>
    void response.writeHead(503).end(JSON.stringify(fields));

test("a try that was cut off, or may have done something, is known when a later one is refused", async () => {
  expect(await askedOf((request) => void request.socket.destroy())).toEqual({ status: 409, unanswered: true });
  expect(await askedOf(problem({ maybe_done: true }))).toEqual({ status: 409, unanswered: true });
  expect(await askedOf((_request, response) => void response.writeHead(502).end())).toMatchObject({ unanswered: true });
});

test("one that was refused, or certainly did nothing, is none of them", async () => {
  expect(await askedOf(problem({}))).toEqual({ status: 409, unanswered: false });
  expect(await askedOf((_request, response) => void response.writeHead(429).end())).toMatchObject({
    unanswered: false,
  });
});

test("nor is that of another call at the same time", async () => {
  const never = new AbortController().signal;
  let tries = 0;
  const one = countingTries(() =>
    insist(never, async () => {
      tries += 1;
      if (tries === 1) throw Object.assign(new Error("closed"), { code: "CONNECTION_CLOSED" });
      return "stored";
    }),
  );
  const other = countingTries(() => insist(never, async () => "stored"));
  expect(await other).toEqual({ value: { kind: "done", value: "stored" }, unanswered: false });
  expect(await one).toEqual({ value: { kind: "done", value: "stored" }, unanswered: true });
});
