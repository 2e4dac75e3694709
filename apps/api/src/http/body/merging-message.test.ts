import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rawSocket } from "../../../test/raw-socket.ts";
import { MergingMessage } from "./merging-message.ts";

const server = createServer({ IncomingMessage: MergingMessage });
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => void server.close());

const head = "POST / HTTP/1.1\r\nHost: x\r\n";
const last = "Connection: close\r\n";
const inPieces = (count: number, size = 1) => `${size.toString(16)}\r\n${"a".repeat(size)}\r\n`.repeat(count);

/** A request, and what the client has to send it with. */
async function arriving(more = last) {
  const requested = once(server, "request") as Promise<[IncomingMessage, ServerResponse]>;
  const client = await rawSocket((server.address() as AddressInfo).port);
  await client.writeAll(`${head}${more}Transfer-Encoding: chunked\r\n\r\n`);
  const [incoming, outgoing] = await requested;
  return { client, incoming, outgoing };
}

async function piecesOf(incoming: IncomingMessage): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of incoming) pieces.push(String(piece));
  return pieces;
}

test("what comes in pieces of a byte while nobody reads is read as few, in order, and to its end", async () => {
  const { client, incoming, outgoing } = await arriving();
  await client.writeAll(`${inPieces(30_000)}5\r\nhello\r\n0\r\n\r\n`);
  await eventually(() => expect(incoming.complete).toBe(true));
  expect(incoming.readableLength).toBe(0);
  const pieces = await piecesOf(incoming);
  expect(pieces.join("")).toBe(`${"a".repeat(30_000)}hello`);
  expect(pieces.length).toBeLessThan(10);
  outgoing.end("read");
  expect(await client.answer).toMatch(/read$/);
});

test("no more is taken from the connection than waits, until it is read: then all of it is", async () => {
  const { client, incoming, outgoing } = await arriving();
  const sent = client.writeAll(`${inPieces(4_000, 1_000)}0\r\n\r\n`);
  await eventually(() => expect(incoming.socket.isPaused()).toBe(true));
  expect(incoming.socket.bytesRead).toBeLessThan(300_000);
  expect(incoming.readableLength).toBe(0);
  expect((await piecesOf(incoming)).join("")).toHaveLength(4_000_000);
  await sent;
  outgoing.end("read");
  expect(await client.answer).toMatch(/read$/);
});

test(
  "pieces that come one by one to a reader that has begun and rests are put together too",
  { tags: ["slow"] },
  async () => {
    const { client, incoming, outgoing } = await arriving();
    await client.writeAll(inPieces(1));
    await once(
      incoming.on("readable", () => {}),
      "readable",
    );
    expect(String(incoming.read())).toBe("a");
    for (let count = 0; count < 500; count += 1) {
      const before = incoming.socket.bytesRead;
      await client.writeAll(inPieces(1));
      await eventually(() => expect(incoming.socket.bytesRead).toBeGreaterThan(before));
    }
    expect(incoming.readableLength).toBeLessThan(10);
    await client.writeAll("0\r\n\r\n");
    const pieces = await piecesOf(incoming);
    expect(pieces.join("")).toHaveLength(500);
    expect(pieces.length).toBeLessThan(10);
    outgoing.end("read");
    expect(await client.answer).toMatch(/read$/);
  },
);

test("a body that is not read is dropped with the answer, and the next request of the connection is read", async () => {
  const { client, incoming, outgoing } = await arriving("");
  await client.writeAll(inPieces(100));
  outgoing.end("one");
  await once(outgoing, "close");
  const next = once(server, "request") as Promise<[IncomingMessage, ServerResponse]>;
  await client.writeAll(`${inPieces(200, 1_000)}0\r\n\r\n${head}${last}Content-Length: 2\r\n\r\nhi`);
  const [second, answer] = await next;
  expect(incoming.complete).toBe(true);
  expect(await piecesOf(second)).toEqual(["hi"]);
  answer.end("two");
  expect(await client.answer).toMatch(/two$/);
});

test("what a client that hangs up has sent ends in an error, not in half a body", async () => {
  const { client, incoming } = await arriving();
  await client.writeAll(inPieces(10));
  client.end();
  await expect(piecesOf(incoming)).rejects.toThrow(/aborted/);
});

test("an empty body ends at once", async () => {
  const requested = once(server, "request") as Promise<[IncomingMessage, ServerResponse]>;
  const client = await rawSocket((server.address() as AddressInfo).port);
  await client.writeAll(`${head}${last}Content-Length: 0\r\n\r\n`);
  const [incoming, outgoing] = await requested;
  expect(await piecesOf(incoming)).toEqual([]);
  outgoing.end("done");
  expect(await client.answer).toMatch(/done$/);
});
