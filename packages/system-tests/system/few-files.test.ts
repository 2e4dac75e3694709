import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { freePort } from "@atlasqueue/embedded";
import { commandFile, eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "./system.ts";

const system = forFile(startSystem);

/** A program of ours that may open no more files than this, as `ulimit -n` says. */
async function withFewFiles(program: "api" | "worker", files_max: number): Promise<number> {
  const port = await freePort();
  const child = spawn("sh", ["-c", `ulimit -n ${files_max}; exec "$0" "$@"`, process.execPath, commandFile, program], {
    env: {
      ...process.env,
      DATABASE_URL: system.servers.postgres.url,
      REDIS_URL: system.servers.redis.url,
      API_PORT: String(port),
      WORKER_METRICS_PORT: String(port),
    },
    stdio: "ignore",
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  });
  await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200), {
    timeout_ms: 60_000,
  });
  return port;
}

async function silent(port: number, count: number, text = ""): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host: "127.0.0.1" }));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) {
    socket.on("error", () => {}).resume();
    if (text !== "") socket.write(text);
  }
  await eventually(() => expect(sockets.every(({ connecting }) => !connecting)).toBe(true));
  return sockets;
}

/** What a request is answered from an address; nothing if the connection is closed instead. */
async function statusAt(port: number, path: string, localAddress: string): Promise<string | undefined> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  return new Promise((resolve) => {
    socket.once("data", (heard) => resolve(/^HTTP\/1.1 (\d+)/.exec(heard.toString())?.[1]));
    socket.once("close", () => resolve(undefined));
  });
}

test(
  "with 200 files, 260 silent sockets are closed within seconds",
  { tags: ["nightly"], timeout: 120_000 },
  async () => {
    const port = await withFewFiles("api", 200);
    const sockets = await silent(port, 260);
    for (const path of ["/livez", "/readyz", "/v1/queues"])
      await eventually(async () => expect(await statusAt(port, path, "127.0.0.2")).toBe("200"), { timeout_ms: 30_000 });
    for (const socket of sockets) socket.destroy();
  },
);

test("a metrics port closes those that send half a header", { tags: ["nightly"], timeout: 120_000 }, async () => {
  const port = await withFewFiles("worker", 300);
  const sockets = await silent(port, 260, "GET /livez HTTP/1.1\r\nHost:");
  await eventually(() => expect(sockets.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(100));
  await eventually(() => expect(sockets.every(({ closed }) => closed)).toBe(true), { timeout_ms: 30_000 });
  expect(await statusAt(port, "/readyz", "127.0.0.1")).toBe("200");
});
