import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { mustRunAs } from "../process/as-user.ts";
import { placeFolder, type DataFolder, type FolderKind } from "../process/data-folder.ts";
import { findRedisServer, installCommand } from "./find-redis.ts";
import { choosePort, freePort, portInUse } from "../process/free-port.ts";
import { canAs, serverIdentity } from "../process/identity.ts";
import { claim } from "../process/owner.ts";
import { keepPassword, keepUrl, newPassword, passwordFile, readPassword, urlFile } from "../postgres/password.ts";
import { pidFile, stopRedisOrphan } from "./redis-orphan.ts";
import { redisAnswers } from "./redis-ping.ts";
import { serverHandle, type ServerHandle, type ServerNews } from "../process/server-handle.ts";
import { spawnServer, stopServer, type ServerProcess, type StopStep } from "../process/server-process.ts";

export type RedisOptions = {
  /** The server's program. Default: `redis-server` or `valkey-server`, in that order. */
  readonly program?: string | undefined;
  /** Default: a free port, a different one on every start. */
  readonly port?: number | undefined;
  /** Its working directory; if given, a server left there by a killed process is stopped first. */
  readonly dir?: string | undefined;
  /** For a `dir` that has none yet: 20 to 200 characters of `A-Za-z0-9_-`. Default: random. */
  readonly password?: string | undefined;
  /** More arguments, such as `["--maxmemory", "64mb"]`; they win over ours. */
  readonly args?: readonly string[] | undefined;
  /** Called with each line the server prints. */
  readonly log?: ((line: string) => void) | undefined;
  /** With it, a server that ends without being stopped is started again on its port: called as it ends and starts. */
  readonly onEnd?: ((news: ServerNews) => void) | undefined;
};

/** Stops with SIGTERM, then SIGKILL after 5 s; restarts on the same port, empty unless `args` make it persistent. */
export type EmbeddedRedis = ServerHandle & {
  /** Includes its password. */
  readonly url: string;
  readonly port: number;
  /** In its `dir`, for the same user's other programs; no one else may read them. */
  readonly passwordFile: string | undefined;
  readonly urlFile: string | undefined;
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

const redisFolder: FolderKind = {
  name: "folder of a Redis",
  isData: () => false,
  ours: /^(redis\.pid|temp-|dump\.rdb|appendonly|atlasqueue\.)/,
};

/**
 * Starts the machine's `redis-server` or `valkey-server` on 127.0.0.1, with a password and without persistence, in a few
 * milliseconds; never as root. Throws "port 6379 is in use", names the command that installs a server when there is
 * none, and quotes the server's own words when it can't start.
 *
 * @example
 * const server = await startRedis({});
 * const redis = new Redis(server.url);
 */
export async function startRedis(options: RedisOptions = {}): Promise<EmbeddedRedis> {
  const command = options.program ?? findRedisServer();
  if (!command) throw new Error(`no redis-server or valkey-server on PATH; install one: ${installCommand()}`);
  const folder = options.dir === undefined ? undefined : placeFolder(options.dir, redisFolder);
  const identity = folder ? folder.identity : serverIdentity(undefined);
  if (!canAs(identity, "-x", command)) throw new Error(`${command} can't be run by the user with id ${identity?.uid}`);
  const claimFolder = () => (folder ? claim(folder, `the Redis in ${folder.dataDir}`) : () => {});
  const release = claimFolder();
  try {
    if (folder) await stopRedisOrphan(folder.dataDir);
    // Redis would follow a link there, or wait for a FIFO's other end.
    if (folder) mustRunAs(identity, 'rm -f -- "$1"', [pidFile(folder.dataDir)]);
    const kept = folder && readPassword(folder);
    const password = kept ?? options.password ?? newPassword();
    if (folder && kept === undefined) keepPassword(folder, password);
    const program = { command, folder, identity, password };
    const { server: first, port } = await start(program, await choosePort(options.port), options);
    const url = `redis://default:${password}@127.0.0.1:${port}`;
    if (folder) keepUrl(folder, url);
    const again = async () => (await start(program, port, { ...options, port })).server;
    const handle = serverHandle({ first, stopSteps, start: again, claim: claimFolder, release, onEnd: options.onEnd });
    const send = (signal: NodeJS.Signals) => void handle.kill(signal);
    const inFolder = (name: string) => folder && join(folder.dataDir, name);
    return Object.assign(handle, {
      pause: () => send("SIGSTOP"),
      resume: () => send("SIGCONT"),
      url,
      port,
      passwordFile: inFolder(passwordFile),
      urlFile: inFolder(urlFile),
    });
  } catch (error) {
    release();
    throw error;
  }
}

type Program = {
  readonly command: string;
  readonly folder: DataFolder | undefined;
  readonly identity: DataFolder["identity"];
  readonly password: string;
};
type Started = { readonly server: ServerProcess; readonly port: number };

async function start(
  { command, folder, identity, password }: Program,
  firstPort: number,
  { port: asked, args = [], log }: RedisOptions,
): Promise<Started> {
  // Elsewhere a file of this name may lie, which a replica leaves when it follows its master, and would be loaded.
  const nowhere = ["--dir", tmpdir(), "--dbfilename", `${randomUUID()}.rdb`];
  const place = folder ? ["--dir", folder.dataDir, "--pidfile", pidFile(folder.dataDir)] : nowhere;
  let port = firstPort;
  for (let tried = 1; ; tried++) {
    const fixed = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    // "-" reads the configuration from standard input.
    const server = await spawnServer(command, ["-", ...fixed, ...place, ...args], {
      identity,
      input: `requirepass ${password}\n`,
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
  const deadline = performance.now() + ready_ms_max;
  while (!server.hasExited() && performance.now() < deadline) {
    if (await redisAnswers(port)) return !server.hasExited();
    await Promise.race([server.exited, delay(10)]);
  }
  await stopServer(server, stopSteps);
  return false;
}
