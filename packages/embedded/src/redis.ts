import { mkdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findRedisServer, installCommand } from "./find-redis.ts";
import { choosePort, freePort, portInUse } from "./free-port.ts";
import { claim } from "./owner.ts";
import { pidFile, stopRedisOrphan } from "./redis-orphan.ts";
import { redisAnswers } from "./redis-ping.ts";
import { serverHandle, type ServerHandle } from "./server-handle.ts";
import { spawnServer, stopServer, type ServerProcess, type StopStep } from "./server-process.ts";

export type RedisOptions = {
  /** Default: a free port, another on every start. */
  readonly port?: number | undefined;
  /** Its working directory; with one, a server that a killed process left there is stopped first. */
  readonly dir?: string | undefined;
  /** More arguments, such as `["--maxmemory", "64mb"]`; they win over ours. */
  readonly args?: readonly string[] | undefined;
  /** Called with each line the server says. */
  readonly log?: ((line: string) => void) | undefined;
};

/** Stops by SIGTERM, SIGKILL after 5 s; restarts on the same port, empty unless `args` make it persistent. */
export type EmbeddedRedis = ServerHandle & {
  readonly url: string;
  readonly port: number;
  /** Freezes it: connections stay open and nothing answers. */
  pause(): void;
  resume(): void;
};

const stopSteps: readonly StopStep[] = [
  { signal: "SIGTERM", wait_ms: 5_000 },
  { signal: "SIGKILL", wait_ms: 1_000 },
];
const ports_max = 5;
const ready_ms_max = 10_000;

/**
 * Starts the machine's `redis-server` or `valkey-server` on 127.0.0.1, without persistence, in a few milliseconds.
 * Throws "port 6379 is in use", with the command that installs one when there is none, and with the server's own words
 * when it can't start.
 *
 * @example
 * const server = await startRedis({});
 * const redis = new Redis(server.url);
 */
export async function startRedis(options: RedisOptions = {}): Promise<EmbeddedRedis> {
  const command = findRedisServer();
  if (!command) throw new Error(`no redis-server or valkey-server on PATH; install one: ${installCommand()}`);
  const folder = options.dir === undefined ? undefined : makeFolder(options.dir);
  const claimFolder = () => (folder ? claim(join(folder, "redis.owner"), `the Redis in ${folder}`) : () => {});
  const release = claimFolder();
  try {
    if (folder) await stopRedisOrphan(folder);
    const { server: first, port } = await start(command, folder, await choosePort(options.port), options);
    const again = async () => (await start(command, folder, port, { ...options, port })).server;
    const handle = serverHandle({ first, stopSteps, start: again, claim: claimFolder, release });
    const send = (signal: NodeJS.Signals) => void handle.kill(signal);
    const pausing = { pause: () => send("SIGSTOP"), resume: () => send("SIGCONT") };
    return Object.assign(handle, pausing, { url: `redis://127.0.0.1:${port}`, port });
  } catch (error) {
    release();
    throw error;
  }
}

type Started = { readonly server: ServerProcess; readonly port: number };

async function start(
  command: string,
  folder: string | undefined,
  firstPort: number,
  { port: asked, args = [], log }: RedisOptions,
): Promise<Started> {
  const place = ["--dir", folder ?? tmpdir(), ...(folder ? ["--pidfile", pidFile(folder)] : [])];
  let port = firstPort;
  for (let tried = 1; ; tried++) {
    const fixed = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    const server = await spawnServer(command, [...fixed, ...place, ...args], {
      log,
      signalOnExit: "SIGTERM",
    });
    if (await becomesReady(server, port)) return { server, port };
    const reason = await server.lastWords();
    const taken = reason.includes("Address already in use");
    if (!taken) throw new Error(`Redis on port ${port} did not start: ${reason}`);
    if (asked !== undefined || tried === ports_max) throw portInUse(port);
    port = await freePort();
  }
}

/** False when it exited first, or was stopped because it took more than 10 s. */
async function becomesReady(server: ServerProcess, port: number): Promise<boolean> {
  const deadline = Date.now() + ready_ms_max;
  while (!server.hasExited() && Date.now() < deadline) {
    if (await redisAnswers(port)) return !server.hasExited();
    await Promise.race([server.exited, delay(10)]);
  }
  await stopServer(server, stopSteps);
  return false;
}

function makeFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return realpathSync(folder);
}
