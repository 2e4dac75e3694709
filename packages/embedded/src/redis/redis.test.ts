import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openFolder } from "../../test/folder.ts";
import { holdServers, isRunning } from "../../test/holder.ts";
import { findRedisServer } from "./find-redis.ts";
import { freePort } from "../process/free-port.ts";
import { redisAnswers } from "./redis-ping.ts";
import { startRedis, type RedisOptions } from "./redis.ts";

async function start(options: RedisOptions = {}) {
  const server = await startRedis(options);
  onTestFinished(() => server.stop());
  return server;
}

/** One command over a raw socket, one reply. */
async function ask(url: string, command: string): Promise<string> {
  const { port, password } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  if (password) {
    socket.write(`AUTH ${password}\r\n`);
    expect(String(await once(socket, "data"))).toBe("+OK\r\n");
  }
  socket.write(`${command}\r\n`);
  return String(await once(socket, "data"));
}

test("a server starts without persistence, away from Ctrl-C, and stops", async () => {
  const server = await start();
  expect(server.url).toMatch(new RegExp(`^redis://default:[\\w-]{32}@127\\.0\\.0\\.1:${server.port}$`));
  expect(await ask(server.url, "CONFIG GET save")).toBe("*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  expect(await ask(server.url, "CONFIG GET appendonly")).toContain("no");
  expect(await ask(server.url, "CONFIG GET bind")).toContain("127.0.0.1");
  expect(process.kill(-server.pid, 0)).toBe(true);
  await server.stop();
  expect(isRunning(server.pid)).toBe(false);
  await server.stop();
});

test("a restart keeps the port and forgets the data", async () => {
  const server = await start();
  await ask(server.url, "SET color blue");
  await server.restart();
  expect(await ask(server.url, "GET color")).toBe("$-1\r\n");
});

test("arguments can make it persistent", async () => {
  const server = await start({ dir: openFolder(), args: ["--appendonly", "yes", "--appendfsync", "always"] });
  await ask(server.url, "SET color blue");
  await server.kill("SIGKILL");
  expect(isRunning(server.pid)).toBe(false);
  await server.restart();
  await vi.waitFor(async () => expect(await ask(server.url, "GET color")).toBe("$4\r\nblue\r\n"));
});

test("a paused server answers nothing until it is resumed, and can be stopped while paused", async () => {
  const server = await start();
  server.pause();
  expect(await redisAnswers(server.port)).toBe(false);
  server.resume();
  expect(await redisAnswers(server.port)).toBe(true);
  server.pause();
  await server.stop();
  expect(isRunning(server.pid)).toBe(false);
});

test("a killed process's server is replaced; while it lives, no second one starts", { tags: ["slow"] }, async () => {
  const folder = openFolder();
  const dir = join(folder, "redis");
  const holder = await holdServers(folder);
  await expect(startRedis({ dir })).rejects.toThrow(`is in use by process ${holder.pid}:`);
  holder.kill("SIGKILL");
  await holder.exited;
  expect(isRunning(holder.redis)).toBe(true);

  await start({ dir });
  expect(isRunning(holder.redis)).toBe(false);
});

test("a taken port is named", async () => {
  const port = await freePort();
  const other = createServer().listen(port, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  await expect(startRedis({ port })).rejects.toThrow(`port ${port} is in use`);
});

test("an argument it refuses is reported in its words", async () => {
  await expect(startRedis({ args: ["--maxmemory", "lots"] })).rejects.toThrow(/did not start:[^]*maxmemory/);
});

test("a machine without a server is told how to get one", async () => {
  vi.stubEnv("PATH", "/nonexistent");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(findRedisServer()).toBeUndefined();
  await expect(startRedis()).rejects.toThrow(/no redis-server or valkey-server on PATH; install one: .*install/);
});
