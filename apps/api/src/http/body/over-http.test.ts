import { setImmediate as nextTurn } from "node:timers/promises";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { parseAnswer } from "../../../test/bad-input/wire.ts";
import { rawPost as post, rawSocket, say } from "../../../test/raw-socket.ts";
import { serverOf, submission, testApp } from "../../../test/test-app.ts";
import { startServer } from "../../server.ts";

// How bodies arrive at a server that listens.

const api = forFile(testApp);
const local = { host: "127.0.0.1", port: 0 };
const server = serverOf(api, { headers_ms: 200, request_ms: 400, check_interval_ms: 50 });

test("a cancel takes a body that turns out empty, whatever its declared type", async () => {
  const created = await fetch(`${server.url}/v1/jobs`, submission("empty", { type: "a" }));
  const { id } = (await created.json()) as { id: string };
  const head = "HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nConnection: close\r\n";
  const chunked = await say(server.port, `POST /jobs/${id}/cancel ${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`);
  expect(chunked).toContain("HTTP/1.1 200");
  const none = await say(server.port, `POST /v1/jobs/${id}/cancel ${head}Content-Length: 0\r\n\r\n`);
  expect(none).toContain("HTTP/1.1 409");
});

test("a chunked body is given up at the limit, however much would follow", async () => {
  // With the usual timeouts, as a busy machine may take a while to send this much.
  const patient = await startServer(api.app, { ...local, logger: api.deps.logger });
  const socket = await rawSocket(patient.port);
  socket.write(post("Idempotency-Key: k\r\nTransfer-Encoding: chunked", ""));
  const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  let sent = 0;
  await eventually(
    async () => {
      sent += 1;
      socket.write(chunk);
      return !socket.isOpen();
    },
    { interval_ms: 1 },
  );
  expect(await socket.answer).toContain("HTTP/1.1 413");
  expect(sent).toBeGreaterThan(16);
  await patient.stop(100);
});

test("a client that sends all of a large body before it reads still gets its 413", async () => {
  const content = "x".repeat(20_000_000);
  const patient = await startServer(api.app, { ...local, logger: api.deps.logger });
  const socket = await rawSocket(patient.port);
  // A slow client, as on a busy machine, may be cut off after a while, but with its answer.
  await socket.writeAll(post(`Idempotency-Key: k\r\nContent-Length: ${content.length}`, content)).catch(() => {});
  await eventually(() => {
    const { status, headers, body: said } = parseAnswer(socket.heard());
    expect(status).toBe(413);
    expect(said).toHaveLength(Number(headers.get("content-length")));
  });
  socket.end();
  await patient.stop(100);
});

test("a body in many pieces, cut inside a character, is put together", async () => {
  const socket = await rawSocket(server.port);
  const bytes = Buffer.from('{"type":"é"}');
  socket.write(post(`Connection: close\r\nIdempotency-Key: pieces\r\nContent-Length: ${bytes.length}`, ""));
  for (const byte of bytes) {
    socket.write(Uint8Array.of(byte));
    await nextTurn();
  }
  const answer = await socket.answer;
  expect(answer).toContain("HTTP/1.1 201");
  expect(answer).toContain('"type":"é"');
});

test("a client that hangs up in the middle of its body is not our error", async () => {
  const socket = await rawSocket(server.port);
  socket.write(post("X-Request-ID: gone\r\nIdempotency-Key: k\r\nContent-Length: 100", '{"type'));
  socket.end();
  await eventually(() =>
    expect(api.events).toContainEqual(expect.objectContaining({ caller_request_id: "gone", status_code: 408 })),
  );
});
