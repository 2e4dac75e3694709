import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { lookupOf } from "./lookup.ts";
import { postJson } from "./post-json.ts";

/** The URL of a receiver that writes this to whoever calls, and then hangs up or stays. */
async function receiver(says: string, then: "hangs up" | "stays"): Promise<URL> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => (then === "stays" ? socket.write(says) : socket.end(says)));
    onTestFinished(() => void socket.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

/** One that writes the same again and again, until its socket is closed: by what it sends, as no time runs out. */
async function flooder(first: string, again: string): Promise<{ url: URL; closed: Promise<unknown> }> {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const server = createServer((socket) => {
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
    // One piece at a time, and as fast as it is read.
    const flood = () => socket.write(again, () => socket.destroyed || setImmediate(flood));
    socket.setNoDelay().once("data", () => socket.write(first, flood));
    socket.once("close", () => server.emit("left"));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return { url, closed: once(server, "left") };
}
const lookup = lookupOf({ allow_private: true });
const post = (url: URL, { signal = new AbortController().signal, timeout_ms = 60_000 } = {}) =>
  postJson(url, "1", { headers: {}, lookup, signal, timeout_ms });
const upgrade = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

test.each([
  ["switches to another protocol", upgrade, "stays", 101],
  ["switches to another protocol and hangs up", upgrade, "hangs up", 101],
  ["answers after an early hint", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "stays", 204],
  ["answers with a body that never ends", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx", "stays", 200],
] as const)("a receiver that %s has answered", async (_what, says, then, status) => {
  expect(await post(await receiver(says, then))).toMatchObject({ status });
});

test.each([
  ["hangs up without an answer", ""],
  ["hangs up within its answer's head", "HTTP/1.1 200 OK\r\nContent-"],
  ["hangs up after an early hint", "HTTP/1.1 103 Early Hints\r\n\r\n"],
  ["speaks no HTTP", "SSH-2.0-OpenSSH_9.2\r\n"],
])("a receiver that %s has failed", async (_what, says) => {
  await expect(post(await receiver(says, "hangs up"))).rejects.toThrow();
});

test("where no address of a name can be reached, the error says what became of the first", async () => {
  // Nobody listens at port 1.
  const both = (address: string) => ({ address, family: 4 });
  const dead: typeof lookup = (_name, _options, callback) => callback(null, ["127.0.0.1", "127.0.0.2"].map(both));
  const options = { headers: {}, lookup: dead, signal: new AbortController().signal, timeout_ms: 60_000 };
  await expect(postJson(new URL("http://two.test:1/"), "1", options)).rejects.toThrow(
    "connect ECONNREFUSED 127.0.0.1:1",
  );
});

const hint = "HTTP/1.1 103 Early Hints\r\n\r\n";
const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

test.each([
  ["early hints", "", hint.repeat(3_000)],
  ["early hints, one at a time", "", hint],
  ["empty lines", "", "\r\n".repeat(30_000)],
  ["a header in tiny pieces", "HTTP/1.1 200 OK\r\nA: ", "a"],
])("a receiver that sends %s without end has failed at once, and its socket is closed", async (_what, first, again) => {
  const { url, closed } = await flooder(first, again);
  await expect(post(url)).rejects.toThrow("the receiver has sent too much without a final answer (1xx are none)");
  await closed;
});

test.each([
  ["a body", "HTTP/1.1 200 OK\r\n\r\n", "x".repeat(65_536)],
  ["chunks of a byte", chunked, "1\r\nx\r\n".repeat(10_000)],
  ["chunks of a byte, one at a time", chunked, "1\r\nx\r\n"],
  ["a chunk's size", chunked, "0".repeat(65_536)],
  ["a chunk's extensions", `${chunked}1`, ";a=b".repeat(10_000)],
  ["trailers", `${chunked}0\r\n`, "a: b\r\n".repeat(10_000)],
])("of a receiver that sends %s without end only the status is awaited", async (_what, first, again) => {
  const { url, closed } = await flooder(first, again);
  expect(await post(url)).toMatchObject({ status: 200 });
  await closed;
});

test.each([
  ["says nothing", ""],
  ["stops within its answer's head", "HTTP/1.1 200 OK\r\nContent-"],
])("a receiver that %s has failed when its time is over, or the caller's", async (_what, says) => {
  const url = await receiver(says, "stays");
  await expect(post(url, { timeout_ms: 100 })).rejects.toThrow("the receiver has not answered within 0.1 s");
  const late = new AbortController();
  const posted = post(url, { signal: late.signal });
  setImmediate(() => late.abort(new Error("too late")));
  await expect(posted).rejects.toThrow("too late");
});
