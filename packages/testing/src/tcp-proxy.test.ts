import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import { tcpProxy, type TcpProxy } from "./tcp-proxy.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});

/** What the servers of the running test heard, and how many of their connections have ended. */
let received: string[] = [];
let closed = 0;

/** Echoes what it receives, in capitals. */
async function shoutingServer(word = ""): Promise<string> {
  const sockets = new Set<Socket>();
  const heard = received;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    // One that ends after its test is none of the next one's.
    socket.on("close", () => (closed += Number(heard === received)));
    socket.on("data", (chunk) => {
      received.push(chunk.toString());
      socket.write(word + chunk.toString().toUpperCase());
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return `tcp://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}/name`;
}

let proxy: TcpProxy;
beforeEach(async () => {
  [received, closed] = [[], 0];
  proxy = await tcpProxy(await shoutingServer());
  opened.push(proxy);
});

/** Connects in the background; what is written waits for it. */
function dial() {
  const socket = connect(proxy.port, "127.0.0.1");
  const said = { heard: "", end: undefined as string | undefined };
  socket.on("data", (chunk) => (said.heard += chunk.toString()));
  socket.on("error", (error: NodeJS.ErrnoException) => (said.end = error.code));
  socket.on("close", () => (said.end ??= "closed"));
  opened.push({ close: () => socket.destroy() });
  return { socket, said };
}

/** A connection that has had an answer. */
async function greeted() {
  const one = dial();
  one.socket.write("a");
  await eventually(() => expect(one.said.heard).toBe("A"));
  return one;
}

/** A new connection is served. */
async function serves(text: string, answer = text.toUpperCase()): Promise<void> {
  const { socket, said } = dial();
  socket.write(text);
  await eventually(() => expect(said.heard).toBe(answer));
}

test("data passes both ways, under the server's own URL with another address", async () => {
  const { socket, said } = dial();
  socket.write("hello");
  await eventually(() => expect(said.heard).toBe("HELLO"));
  expect(proxy.url).toBe(`tcp://user:secret@127.0.0.1:${proxy.port}/name`);
  expect(proxy.connections()).toBe(1);
  socket.destroy();
  await eventually(() => expect(proxy.connections()).toBe(0));
});

test("a black hole answers nothing and closes nothing, and its connections stay dead afterwards", async () => {
  const before = await greeted();
  proxy.blackhole();
  const during = dial();
  before.socket.write("b");
  during.socket.write("b");
  await eventually(() => expect(proxy.accepted()).toBe(2));
  proxy.heal();
  await serves("c");
  expect([before.said, during.said]).toEqual([
    { heard: "A", end: undefined },
    { heard: "", end: undefined },
  ]);
});

test("a reset reaches existing connections, and while all are refused, every new one", async () => {
  const before = await greeted();
  proxy.reset();
  await eventually(() => expect(before.said.end).toBe("ECONNRESET"));
  proxy.refuse();
  const during = dial();
  await eventually(() => expect(during.said.end).toBe("ECONNRESET"));
  proxy.heal();
  await serves("c");
});

test("after a number of requests nothing more is read from either side, silently, and new connections are served", async () => {
  const { socket, said } = dial();
  const still = proxy.freezeAfterQuestions(2);
  socket.write("a");
  await eventually(() => expect(said.heard).toBe("A"));
  socket.write("b");
  await still;
  socket.write("c");
  await serves("d");
  expect(said).toEqual({ heard: "A", end: undefined });
  proxy.reset();
  await eventually(() => expect(said.end).toBe("ECONNRESET"));
});

test("answers are cut once, after exactly that many bytes", async () => {
  const { socket, said } = dial();
  proxy.cutAnswersAfter(3);
  socket.write("hello");
  await eventually(() => expect(said.end).toBeDefined());
  expect(said.heard).toBe("HEL");
  await serves("hello");
});

test("requests are cut once, after exactly that many bytes", async () => {
  const { socket, said } = dial();
  proxy.cutQuestionsAfter(3);
  socket.write("hello");
  await eventually(() => expect(said.end).toBeDefined());
  await serves("hello");
});

test("new connections go where it points now, open ones stay", async () => {
  const old = await greeted();
  proxy.pointAt(await shoutingServer("new "));
  await serves("b", "new B");
  old.socket.write("b");
  await eventually(() => expect(old.said.heard).toBe("AB"));
});

test("data is delayed each way and keeps its order, even what was sent before the delay ended", async () => {
  const { socket, said } = await greeted();
  proxy.delay(200);
  const asked = performance.now();
  socket.write("b");
  await eventually(() => expect(said.heard).toBe("AB"));
  expect(performance.now() - asked).toBeGreaterThan(395);
  for (const letter of "cdefgh") socket.write(letter);
  await new Promise((resolve) => setImmediate(resolve));
  proxy.delay(0);
  socket.end("i");
  await eventually(() => expect(said).toEqual({ heard: "ABCDEFGHI", end: "closed" }));
});

test("with only answers lost the server hears everything, and nobody hears the server", async () => {
  const { socket, said } = await greeted();
  proxy.blackhole("answers");
  socket.write("b");
  const late = dial();
  late.socket.write("c");
  await eventually(() => expect(received.join("")).toBe("abc"));
  expect(said).toEqual({ heard: "A", end: undefined });
  expect(late.said).toEqual({ heard: "", end: undefined });
});

test("with only questions lost the server hears nothing more and may still speak", async () => {
  const { socket, said } = await greeted();
  proxy.blackhole("questions");
  socket.write("b");
  proxy.heal();
  await serves("c");
  expect(said.heard).toBe("A");
  expect(received.join("")).toBe("ac");
});

test("an answer with a given text is not heard: its connection is cut in place of it, once", async () => {
  const [first, second] = [dial(), dial()];
  proxy.cutAnswerWith("COMMIT");
  first.socket.write("begin");
  await eventually(() => expect(first.said.heard).toBe("BEGIN"));
  first.socket.write("commit");
  await eventually(() => expect(first.said.end).toBe("ECONNRESET"));
  expect(first.said.heard).toBe("BEGIN");
  expect(received.join("")).toBe("begincommit");
  second.socket.write("commit");
  await eventually(() => expect(second.said.heard).toBe("COMMIT"));
});

test("a reset also cuts the server's end of what a client gave up during a black hole", async () => {
  const { socket } = await greeted();
  proxy.blackhole();
  socket.resetAndDestroy();
  await eventually(() => expect(proxy.connections()).toBe(0));
  expect(closed).toBe(0);
  proxy.heal();
  proxy.reset();
  await eventually(() => expect(closed).toBe(1));
});
