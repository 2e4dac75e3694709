import { createServer, connect, type Socket } from "node:net";
import { once } from "node:events";
import { Duplex } from "node:stream";
import { eventually } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { openChannel } from "./process-channel.ts";

/** The two ends of a connection: one raw, and one that records what comes. */
async function ends() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const connected = once(server, "connection") as Promise<[Socket]>;
  const raw = connect(port, "127.0.0.1");
  const [other] = await connected;
  onTestFinished(() => {
    raw.destroy();
    other.destroy();
    server.close();
  });
  const heard: unknown[] = [];
  let junk = 0;
  let closed = 0;
  const channel = openChannel(other, {
    hear: (message) => void heard.push(message),
    junk: () => void (junk += 1),
    closed: () => void (closed += 1),
  });
  return { raw, channel, heard, junk: () => junk, closed: () => closed };
}

test("messages arrive whole and in order, however they are cut", async () => {
  const { raw, heard } = await ends();
  const bytes = Buffer.from('{"a":"é\\n"}\n[1]\nnull\n');
  for (const byte of bytes) raw.write(Buffer.of(byte));
  await eventually(() => expect(heard).toEqual([{ a: "é\n" }, [1], null]));
});

test("junk is reported, and the next message still gets through", async () => {
  const { raw, heard, junk } = await ends();
  raw.write('junk\n{"a":\n\n{"b":1}\n');
  await eventually(() => expect(heard).toEqual([{ b: 1 }]));
  expect(junk()).toBe(2);
});

test("an endless message is not kept", async () => {
  const { raw, heard, junk } = await ends();
  for (let at = 0; at < 17; at += 1) raw.write("x".repeat(1024 * 1024));
  await eventually(() => expect(junk()).toBe(1));
  raw.write('xx\n"next"\n');
  await eventually(() => expect(heard).toEqual(["next"]));
  expect(junk()).toBe(1);
});

test.each([
  ["by themselves", false],
  ["before the end", true],
])("more than a million messages that wait for a slow reader arrive in order, %s", async (_when, ends_then) => {
  const { raw, channel } = await ends();
  const count = 1_200_000;
  for (let at = 0; at < count; at += 1) channel.send(at);
  if (ends_then) void channel.end();
  let next = 0;
  let rest = "";
  raw.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (Number(line) === next) next += 1;
  });
  await eventually(() => expect(next).toBe(count), { timeout_ms: 30_000 });
});

test("what waits is written in pieces of bounded length, however long messages are", async () => {
  const pieces: number[] = [];
  let reads = false;
  let goOn: () => void = () => {};
  const pipe = new Duplex({
    decodeStrings: false,
    read() {},
    write(text: string, _encoding, done) {
      pieces.push(text.length);
      if (reads) setImmediate(done);
      else goOn = done;
    },
  });
  const channel = openChannel(pipe, { hear: () => {} });
  for (let at = 0; at < 100; at += 1) channel.send("x".repeat(100_000));
  for (let at = 0; at < 100_000; at += 1) channel.send("x");
  reads = true;
  goOn();
  await eventually(() => expect(pieces.reduce((sum, length) => sum + length, 0)).toBe(100 * 100_003 + 100_000 * 4));
  expect(Math.max(...pieces)).toBeLessThan(200_000);
  expect(pieces.length).toBeLessThan(200);
});

test("what is sent arrives as one line; when the other side goes, that is reported once, and sending goes nowhere", async () => {
  const { raw, channel, closed } = await ends();
  let said = "";
  raw.on("data", (chunk: Buffer) => (said += chunk.toString()));
  channel.send({ a: "x\ny" });
  channel.send("é");
  await eventually(() => expect(said).toBe('{"a":"x\\ny"}\n"é"\n'));
  raw.destroy();
  await eventually(() => expect(closed()).toBe(1));
  channel.send("nobody hears it");
  await channel.end();
  expect(closed()).toBe(1);
});
