import { once } from "node:events";
import { createServer as createPlainServer, type AddressInfo } from "node:net";
import { createServer, getCACertificates, setDefaultCACertificates, type TlsOptions, type TLSSocket } from "node:tls";
import { certificateAuthority } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { lookupOf } from "./lookup.ts";
import { postJson } from "./post-json.ts";

const authority = certificateAuthority();
const { cert, key } = authority.issue("receiver", ["DNS:localhost", "IP:127.0.0.1"]);
const trusted = getCACertificates("default");
beforeAll(() => setDefaultCACertificates([...trusted, authority.ca]));
afterAll(() => {
  setDefaultCACertificates(trusted);
  authority.remove();
});

/** A receiver over TLS that does this with whoever calls; its own time does not run out. */
async function receiver(called: (socket: TLSSocket) => void, options: TlsOptions = { cert, key }) {
  const server = createServer(options, (socket) => {
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
    socket.once("close", () => server.emit("left"));
    socket.once("data", () => called(socket));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { port } = server.address() as AddressInfo;
  return { port, server, left: once(server, "left") };
}
const post = (url: string) => {
  const { signal } = new AbortController();
  const lookup = lookupOf({ allow_private: true });
  return postJson(new URL(url), '{"order":17}', { headers: {}, lookup, signal, timeout_ms: 60_000 });
};
const too_much = "the receiver has sent too much without a final answer (1xx are none)";

test.each(["localhost", "127.0.0.1"])("a receiver over TLS at %s answers, and its socket is closed", async (host) => {
  const names: unknown[] = [];
  const { port, left } = await receiver((socket) => {
    names.push(socket.servername);
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  expect(await post(`https://${host}:${port}/`)).toMatchObject({ status: 200 });
  await left;
  expect(names).toEqual([host === "localhost" ? host : false]);
});

test("a receiver whose certificate is for another name, or from nobody known, gets nothing", async () => {
  const called = vi.fn();
  const other = await receiver(called, authority.issue("other", ["DNS:example.org"]));
  await expect(post(`https://localhost:${other.port}/`)).rejects.toThrow("does not match certificate's altnames");
  const stranger = certificateAuthority();
  onTestFinished(() => stranger.remove());
  const unknown = await receiver(called, stranger.issue("receiver", ["DNS:localhost"]));
  await expect(post(`https://localhost:${unknown.port}/`)).rejects.toThrow("unable to verify the first certificate");
  expect(called).not.toHaveBeenCalled();
});

test("a receiver over TLS that hangs up without an answer has failed", async () => {
  const { port } = await receiver((socket) => socket.end());
  await expect(post(`https://localhost:${port}/`)).rejects.toThrow();
});

test("a receiver that sends early hints without end over TLS has failed, and its socket is closed", async () => {
  const { port, left } = await receiver((socket) => {
    const flood = () =>
      socket.write("HTTP/1.1 103 E\r\n\r\n".repeat(3_000), () => socket.destroyed || setImmediate(flood));
    flood();
  });
  await expect(post(`https://localhost:${port}/`)).rejects.toThrow(too_much);
  await left;
});

test("a receiver that wants new keys gets none, and none of those it goes on asking for", async () => {
  const agreed: unknown[] = [];
  const again = (socket: TLSSocket): void =>
    void socket.renegotiate({}, (error) => {
      agreed.push(error);
      if (!error && !socket.destroyed) setImmediate(again, socket);
    });
  const { port, left } = await receiver(again, { cert, key, maxVersion: "TLSv1.2" });
  await expect(post(`https://localhost:${port}/`)).rejects.toThrow();
  await left;
  expect(agreed).not.toContain(null);
});

test("a receiver that wants to reckon with numbers of its own is refused before it can name them", async () => {
  const server = createPlainServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(serverHello));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await expect(post(`https://localhost:${port}/`)).rejects.toThrow("wrong cipher returned");
});

/** TLS 1.2 with DHE-RSA-AES128-GCM-SHA256. */
const serverHello = Buffer.concat([
  Buffer.from("16030300310200002d0303", "hex"),
  Buffer.alloc(32, 7),
  Buffer.from("00009e000005ff01000100", "hex"),
]);
