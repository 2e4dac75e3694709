import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { rawSocket } from "../../test/raw-socket.ts";
import { createLastRequests, type LastRequests } from "./last-requests.ts";

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

async function ownServer(answer: (outgoing: ServerResponse) => void = (outgoing) => outgoing.end("hi")) {
  const server = createServer((_, outgoing) => {
    last.begin(outgoing);
    answer(outgoing);
  });
  const last: LastRequests = createLastRequests(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.closeAllConnections());
  return { server, last, port: (server.address() as AddressInfo).port };
}

/** Its port is closed, a moment ago. */
async function closedPort(server: Server): Promise<void> {
  while (server.listening) await new Promise((resolve) => setImmediate(resolve));
}

test("who calls a little later than the end is answered, and told that it was the last time", async () => {
  const { server, last, port } = await ownServer();
  const [known, made] = [await rawSocket(port), await rawSocket(port)];
  known.write(get);
  await expect.poll(known.heard).toContain("hi");
  expect(known.heard()).toContain("Connection: keep-alive");
  const empty = await rawSocket(port);
  const ended = last.end(60_000);
  await closedPort(server);
  known.write(get);
  made.write(get);
  expect((await known.answer).match(/Connection: close/gi)).toHaveLength(1);
  expect(await made.answer).toMatch(/Connection: close/i);
  // Nothing keeps it from ending, such as a connection made for later.
  expect(await empty.answer).toBe("");
  await ended;
});

test("so is who called before the end and is answered after it", async () => {
  const held: ServerResponse[] = [];
  const { server, last, port } = await ownServer((outgoing) => held.push(outgoing));
  const caller = await rawSocket(port);
  caller.write(get);
  await expect.poll(() => held.length).toBe(1);
  const ended = last.end(5_000);
  await closedPort(server);
  held[0]?.end("late");
  expect(await caller.answer).toMatch(/Connection: close[^]*late/i);
  await ended;
});

test("all that have connected by then are let in, which is one each turn of a busy loop", async () => {
  const { last, port } = await ownServer();
  const callers = Array.from({ length: 200 }, () => rawSocket(port));
  let on = true;
  const busy = () => {
    for (const until = performance.now() + 5; performance.now() < until;);
    if (on) setImmediate(busy);
  };
  busy();
  const answers = callers.map(async (connecting) => {
    const caller = await connecting;
    caller.write(get);
    return caller.answer;
  });
  await last.end(60_000);
  on = false;
  expect((await Promise.all(answers)).filter((answer) => answer.includes("hi"))).toHaveLength(200);
});

test("callers that keep coming, on more and more of their connections, do not keep it", async () => {
  const { last, port } = await ownServer();
  const callers = await Promise.all(Array.from({ length: 200 }, () => rawSocket(port)));
  const calling = setInterval(() => callers.pop()?.write(get), 10);
  onTestFinished(() => clearInterval(calling));
  await last.end(5_000);
  expect(callers.length).toBeGreaterThan(0);
});

test("what is not answered by the deadline is cut off", async () => {
  const { last, port } = await ownServer(() => {});
  const caller = await rawSocket(port);
  caller.write(get);
  await last.end(50);
  expect(await caller.answer).toBe("");
});
