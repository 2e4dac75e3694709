import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
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
const lookup = lookupOf({ allow_private: true });
const post = (url: URL, { signal = new AbortController().signal, timeout_ms = 60_000 } = {}) =>
  postJson(url, 1, { headers: {}, lookup, signal, timeout_ms });
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
