import { once } from "node:events";
import { createServer, Socket, type AddressInfo } from "node:net";
import { eventually } from "@atlasqueue/testing";
import { expect, onTestFinished, test } from "vitest";
import { pacedSocket } from "./paced-socket.ts";

/** A socket whose turns the test gives, and the other side of its connection. */
async function connection() {
  const server = createServer({ allowHalfOpen: true });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const waiting: (() => void)[] = [];
  const plain = new Socket().connect((server.address() as AddressInfo).port, "127.0.0.1");
  const { paced, atOnce } = pacedSocket(plain, (work) => {
    waiting.push(work);
    return () => void waiting.splice(waiting.indexOf(work), 1);
  });
  paced.on("error", () => {});
  const [other] = (await once(server, "connection")) as [Socket];
  other.on("error", () => {});
  onTestFinished(() => (plain.destroy(), void other.destroy()));
  const read: string[] = [];
  paced.on("data", (piece) => read.push(String(piece)));
  return { plain, paced, atOnce, other, waiting, read };
}

test("a piece is read within its turn, and the next one waits for another", async () => {
  const { other, waiting, read, paced } = await connection();
  other.write("one");
  await eventually(() => expect(waiting).toHaveLength(1));
  await new Promise((sent) => other.write("two", sent));
  other.end();
  expect([read, waiting.length]).toEqual([[], 1]);
  waiting.shift()?.();
  expect(read).toEqual(["one"]);
  await eventually(() => expect(waiting).toHaveLength(1));
  expect(read).toEqual(["one"]);
  const ended = once(paced, "end");
  waiting.shift()?.();
  expect(read).toEqual(["one", "two"]);
  await ended;
});

test("a piece whose turn comes while its reader pauses waits for another turn", async () => {
  const { other, waiting, read, paced } = await connection();
  other.write("one");
  await eventually(() => expect(waiting).toHaveLength(1));
  paced.pause();
  waiting.shift()?.();
  paced.resume();
  await eventually(() => expect(waiting).toHaveLength(1));
  expect(read).toEqual([]);
  waiting.shift()?.();
  expect(read).toEqual(["one"]);
});

test.each(["this side", "the socket", "the other side, by a reset"])("nothing waits once closed by %s", async (by) => {
  const { plain, paced, other, waiting, read } = await connection();
  other.write("one");
  await eventually(() => expect(waiting).toHaveLength(1));
  const closed = new Promise((resolve) => paced.once("close", resolve));
  if (by === "this side") paced.destroy();
  else if (by === "the socket") plain.destroy();
  else other.resetAndDestroy();
  await closed;
  expect([waiting, read, plain.destroyed]).toEqual([[], [], true]);
});

test("from when it is told so, what is read waits for no turn", async () => {
  const { paced, atOnce, other, waiting, read } = await connection();
  other.write("one");
  await eventually(() => expect(waiting).toHaveLength(1));
  paced.once("data", atOnce);
  waiting.shift()?.();
  const closed = once(paced, "close").catch(() => {});
  other.write("two", () => other.resetAndDestroy());
  await closed;
  expect([read, waiting]).toEqual([["one", "two"], []]);
});

test("what is written goes out at once, and the other side learns of the end", async () => {
  const { paced, other } = await connection();
  paced.end("hello");
  const [sent] = await once(other, "data");
  expect(String(sent)).toBe("hello");
  await once(other, "end");
});
