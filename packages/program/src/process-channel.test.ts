import { createServer, connect, type Socket } from "node:net";
import { once } from "node:events";
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
  let closed = 0;
  const channel = openChannel(other, {
    hear: (message) => void heard.push(message),
    closed: () => void (closed += 1),
  });
  return { raw, channel, heard, closed: () => closed };
}

test("messages arrive whole and in order, however they are cut", async () => {
  const { raw, heard } = await ends();
  const bytes = Buffer.from('{"a":"é\\n"}\n[1]\nnull\n');
  for (const byte of bytes) raw.write(Buffer.of(byte));
  await eventually(() => expect(heard).toEqual([{ a: "é\n" }, [1], null]));
});

test("junk is heard as nothing, and the next message still gets through", async () => {
  const { raw, heard } = await ends();
  raw.write('junk\n{"a":\n\n{"b":1}\n');
  await eventually(() => expect(heard).toEqual([undefined, undefined, { b: 1 }]));
});

test("an endless message ends the channel", async () => {
  const { raw, heard, closed } = await ends();
  raw.on("error", () => {});
  for (let at = 0; at < 17; at += 1) raw.write("x".repeat(1024 * 1024));
  await eventually(() => expect(closed()).toBe(1));
  expect(heard).toEqual([]);
});

test("more than a million messages that wait for a slow reader arrive in order, before the end", async () => {
  const { raw, channel } = await ends();
  const count = 1_200_000;
  for (let at = 0; at < count; at += 1) channel.send(at);
  void channel.end();
  let next = 0;
  let rest = "";
  raw.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (Number(line) === next) next += 1;
  });
  await eventually(() => expect(next).toBe(count), { timeout_ms: 30_000 });
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
