import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { promisify } from "node:util";
import { limits } from "@atlasqueue/contract";
import { eventually } from "@atlasqueue/testing";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { rawSocket } from "../../test/raw-socket.ts";
import { oneAtATime } from "./one-at-a-time.ts";

let begun: string[] = [];
/** Answers what has begun. */
let answer: (() => void)[] = [];
const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
  begun.push(incoming.url ?? "");
  const close = incoming.url === "/last";
  answer.push(() => outgoing.writeHead(200, close ? { connection: "close" } : {}).end(`answer to ${incoming.url}`));
};
const server = createServer(oneAtATime(listener));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => void server.close());
beforeEach(() => {
  begun = [];
  answer = [];
});

const port = () => (server.address() as AddressInfo).port;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const beginning = (...paths: string[]) => eventually(async () => expect(begun).toEqual(paths));

test("of requests that come together on one connection each begins when the one before is answered, and others wait for none of it", async () => {
  const socket = await rawSocket(port());
  await socket.writeAll(get("/1") + get("/2") + get("/last"));
  await beginning("/1");
  const other = await rawSocket(port());
  await other.writeAll(get("/last"));
  await beginning("/1", "/last");
  answer[1]?.();
  expect(await other.answer).toMatch(/answer to \/last/);
  expect(begun).toEqual(["/1", "/last"]);
  answer[0]?.();
  await beginning("/1", "/last", "/2");
  answer[2]?.();
  await beginning("/1", "/last", "/2", "/last");
  answer[3]?.();
  expect((await socket.answer).match(/answer to \/\w+/g)).toEqual(["answer to /1", "answer to /2", "answer to /last"]);
});

test("one after the other they are as many as anybody likes", async () => {
  const answers = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const socket = await rawSocket(port());
      for (let at = 1; at <= 5; at += 1) {
        const path = at === 5 ? "/last" : `/${at}`;
        const before = begun.length;
        await socket.writeAll(get(path));
        await eventually(async () => expect(begun.length).toBeGreaterThan(before));
        for (const each of answer.splice(0)) each();
      }
      return socket.answer;
    }),
  );
  for (const text of answers) expect(text.match(/answer to/g)).toHaveLength(5);
});

test("when a client hangs up, what it still had in line never begins", async () => {
  const socket = await rawSocket(port());
  await socket.writeAll(get("/1") + get("/2"));
  await beginning("/1");
  socket.end();
  server.closeAllConnections();
  const other = await rawSocket(port());
  await other.writeAll(get("/last"));
  await beginning("/1", "/last");
  answer[1]?.();
  await other.answer;
  expect(begun).toEqual(["/1", "/last"]);
});

test("nothing that follows the last answer of a connection begins, in line already or sent later", async () => {
  const socket = await rawSocket(port());
  await socket.writeAll(get("/last") + get("/in-line"));
  await beginning("/last");
  const connections = () => promisify(server.getConnections.bind(server))();
  answer[0]?.();
  socket.write(get("/later"));
  expect((await socket.answer).match(/answer to/g)).toHaveLength(1);
  socket.end();
  await eventually(async () => expect(await connections()).toBe(0));
  expect(begun).toEqual(["/last"]);
});

test("a client with more than 32 requests in line is disconnected", async () => {
  const socket = await rawSocket(port());
  socket.write(Array.from({ length: 50 }, (_, at) => get(`/${at}`)).join(""));
  expect(await socket.answer).toBe("");
  expect(begun).toEqual(["/0"]);
});

test(
  "of a client that sends much behind a slow request no more is read until that is answered, and then all of it is",
  { tags: ["slow"] },
  async () => {
    const connected = once(server, "connection") as Promise<[Socket]>;
    const socket = await rawSocket(port());
    const [served] = await connected;
    const post = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n${"x".repeat(60_000)}`;
    socket.write(get("/slow") + Array.from({ length: 120 }, (_, at) => post(`/${at}`)).join("") + get("/last"));
    await eventually(() => expect(served.isPaused()).toBe(true));
    expect(begun).toEqual(["/slow"]);
    expect(served.bytesRead).toBeLessThan(300_000);
    for (let answered = 0; answered < 122; answered += 1) {
      await eventually(() => expect(answer.length).toBe(answered + 1));
      expect(served.bytesRead - answered * 60_000).toBeLessThan(400_000);
      answer[answered]?.();
    }
    expect((await socket.answer).match(/answer to/g)).toHaveLength(122);
  },
);

const headers = Array.from({ length: 160 }, (_, n) => `h${n}: 1\r\n`).join("");
/** Takes 20,000, and one network's share of 100,000 is three quarters. */
const large = `GET /large HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
async function withRoomFor(bytes: number) {
  const small = createServer(oneAtATime(listener, bytes));
  await new Promise<void>((resolve) => small.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void small.close());
  return { small, at: (small.address() as AddressInfo).port };
}

test("what is in line on all connections together has a bound, and room comes back with what begins and with who hangs up", async () => {
  const { small, at } = await withRoomFor(100_000);
  const inLine = async (count: number) => {
    const socket = await rawSocket(at);
    await socket.writeAll(get("/first") + large.repeat(count));
    return socket;
  };
  const first = await inLine(3);
  await beginning("/first");
  const second = await inLine(3);
  expect(await second.answer).toBe("");
  answer[0]?.();
  await beginning("/first", "/first", "/large");
  first.end();
  small.closeAllConnections();
  await first.answer;
  const third = await inLine(3);
  await beginning("/first", "/first", "/large", "/first");
  for (let n = 3; n < 7; n += 1) {
    answer[n]?.();
    await eventually(() => expect(begun).toHaveLength(Math.min(n + 2, 7)));
  }
  third.end();
  expect((await third.answer).match(/answer to/g)).toHaveLength(4);
});

test("what may be read of bodies behind a slow request takes room once for a line, and gives it back with the last that begins", async () => {
  const { at } = await withRoomFor(200_000);
  const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`;
  for (let line = 0; line < 3; line += 1) {
    const before = begun.length;
    const socket = await rawSocket(at);
    await socket.writeAll(get("/first") + post("/second") + post("/third") + post("/last"));
    for (let n = 1; n <= 4; n += 1) {
      await eventually(() => expect(begun).toHaveLength(before + n));
      answer[before + n - 1]?.();
    }
    expect((await socket.answer).match(/answer to \/\w+/g)).toHaveLength(4);
  }
});

test("so has what has begun: a request without room is told so at once, and room comes back with the answers", async () => {
  const { at } = await withRoomFor(100_000);
  const begin = async (...paths: string[]) => {
    const socket = await rawSocket(at);
    await socket.writeAll(large);
    await beginning(...paths);
    return socket;
  };
  const first = await begin("/large");
  await begin("/large", "/large");
  await begin("/large", "/large", "/large");
  const refused = await rawSocket(at);
  await refused.writeAll(large);
  expect(await refused.answer).toMatch(
    /^HTTP\/1.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*There is no room for more requests/,
  );
  expect(begun).toHaveLength(3);
  answer[0]?.();
  await eventually(() => expect(first.heard()).toContain("answer to /large"));
  await begin("/large", "/large", "/large", "/large");
});

test("what was answered before all of it had come holds its room until it has, or its client hangs up", async () => {
  const { at } = await withRoomFor(100_000);
  const half = `${large.slice(0, -2)}Content-Length: 10\r\n\r\n12345`;
  const sockets = await Promise.all(
    ["first", "second", "third"].map(async () => {
      const socket = await rawSocket(at);
      await socket.writeAll(half);
      await eventually(() => expect(begun.length).toBe(answer.length));
      return socket;
    }),
  );
  await eventually(() => expect(answer).toHaveLength(3));
  for (const each of answer) each();
  for (const socket of sockets) await eventually(() => expect(socket.heard()).toContain("answer to /large"));
  const ask = async () => {
    const socket = await rawSocket(at);
    await socket.writeAll(large);
    return socket;
  };
  expect(await (await ask()).answer).toMatch(/^HTTP\/1.1 503 /);
  await sockets[0]?.writeAll("67890");
  await ask();
  await eventually(() => expect(begun).toHaveLength(4));
  sockets[1]?.end();
  await eventually(async () => {
    await ask();
    expect(begun).toHaveLength(5);
  });
});

test("who goes on sending a body after its answer is disconnected, but not for the largest that there may be", async () => {
  const socket = await rawSocket(port());
  await socket.writeAll("POST /1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  await beginning("/1");
  answer[0]?.();
  await eventually(async () => expect(socket.heard()).toMatch(/answer to/));
  const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
  for (let sent = 0; sent < limits.error_body_bytes_max; sent += 65_536) await socket.writeAll(chunk);
  expect(socket.isOpen()).toBe(true);
  const sending = async () => {
    for (let sent = 0; sent < 10_000; sent += 1) await socket.writeAll(chunk);
  };
  await expect(sending()).rejects.toThrow(/EPIPE|ECONNRESET|write/);
});
