import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRedisServer, freePort, startRedis, type EmbeddedRedis } from "@atlasqueue/embedded";
import { Redis } from "ioredis";
import { eventually } from "../eventually.ts";
import { tlsFiles, type Authority } from "./certificates.ts";

export type SentinelSet = {
  /** `redis+sentinel://` with all sentinels, the servers' password and the set's name. */
  readonly url: string;
  /** The first one was the master at the start. */
  readonly servers: readonly (EmbeddedRedis & { readonly ask: Redis })[];
  /** By the sentinels' word. */
  master(): Promise<EmbeddedRedis & { readonly ask: Redis }>;
  /** Orders a failover and resolves when the sentinels name another master. */
  failover(): Promise<void>;
  /** A connection to the first sentinel. */
  readonly sentinel: Redis;
  readonly sentinels: readonly { readonly port: number; readonly ask: Redis; kill(signal: NodeJS.Signals): void }[];
  stop(): Promise<void>;
};

const password = "the-same-for-all-of-them";
const sentinel_password = "of-the-sentinels";
const name = "jobs";

/**
 * Two Redis servers and three sentinels that watch them and replace a lost master within two or three seconds. The
 * sentinels have a password of their own. With an authority all of them speak TLS only to each other and to those who
 * show one of its certificates. Stopping it is up to you.
 *
 * @example
 * const set = await sentinelSet();
 * afterAll(() => set.stop());
 */
export async function sentinelSet({ tls }: { tls?: Authority | undefined } = {}): Promise<SentinelSet> {
  const certificate = tls?.issue("sentinels", ["IP:127.0.0.1"]);
  const files = tls && certificate && { ...tlsFiles(tls, certificate), "tls-replication": "yes" };
  const shown = tls && certificate && { tls: { ca: tls.ca, cert: certificate.cert, key: certificate.key } };
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-sentinel-"));
  chmodSync(folder, 0o777);
  const started: EmbeddedRedis[] = [];
  const asking: Redis[] = [];
  const watching: ChildProcess[] = [];
  const stop = async () => {
    for (const ask of asking) ask.disconnect();
    await Promise.all(watching.map(end));
    await Promise.all(started.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const startServer = async (dbfilename: string, settings: Record<string, string>) => {
      const tls_port = files && String(await freePort());
      const all = {
        dir: folder,
        dbfilename,
        masterauth: password,
        "repl-diskless-sync-delay": "0",
        ...settings,
        ...files,
      };
      // Announced, as sentinels dial what their master says of its replicas.
      const ports = tls_port && { "tls-port": tls_port, "replica-announce-port": tls_port };
      const args = Object.entries({ ...all, ...ports }).flatMap(([key, value]) => [`--${key}`, value]);
      const server = await startRedis({ password, args });
      started.push(server);
      return Number(tls_port ?? server.port);
    };
    const first = await startServer("first.rdb", {});
    const second = await startServer("second.rdb", { replicaof: `127.0.0.1 ${first}` });
    const announced = [first, second];
    const servers = started.map((server) => {
      const ask = quiet(new Redis(server.url));
      asking.push(ask);
      return Object.assign(server, { ask });
    });
    const sentinels: SentinelSet["sentinels"][number][] = [];
    for (let at = 0; at < 3; at += 1) {
      const port = await freePort();
      const child = startSentinel(join(folder, `${at}.conf`), port, first, files);
      watching.push(child);
      const ask = quiet(new Redis({ port, host: "127.0.0.1", password: sentinel_password, ...shown }));
      asking.push(ask);
      sentinels.push({ port, ask, kill: (signal) => void child.kill(signal) });
    }
    const asks = sentinels.map(({ ask }) => ask);
    const facts = async (ask: Redis) => {
      const answer = (await ask.call("SENTINEL", "MASTER", name)) as string[];
      return (field: string) => answer[answer.indexOf(field) + 1];
    };
    await eventually(async () => {
      for (const ask of asks) {
        const fact = await facts(ask);
        if (fact("num-slaves") !== "1" || fact("num-other-sentinels") !== "2" || fact("flags") !== "master")
          throw new Error("the sentinels don't know everyone yet");
      }
    });
    const master = async () => {
      const ports = await Promise.any(asks.map((ask) => facts(ask).then((fact) => Number(fact("port")))));
      const server = servers[announced.indexOf(ports)];
      if (!server) throw new Error("the sentinels name a stranger");
      return server;
    };
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",");
    return {
      url: `${tls ? "rediss" : "redis"}+sentinel://:${password}@${hosts}/${name}?sentinel_password=${sentinel_password}`,
      servers,
      sentinel: asks[0] as Redis,
      sentinels,
      master,
      async failover() {
        const before = await master();
        await eventually(() => asks[0]?.call("SENTINEL", "FAILOVER", name));
        await eventually(async () => {
          if ((await master()) === before) throw new Error("the same master");
        });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startSentinel(
  file: string,
  port: number,
  master_port: number,
  files: Record<string, string> | undefined,
): ChildProcess {
  const lines = [
    ...(files
      ? ["port 0", `tls-port ${port}`, ...Object.entries(files).map((pair) => pair.join(" "))]
      : [`port ${port}`]),
    "bind 127.0.0.1",
    `requirepass ${sentinel_password}`,
    `sentinel sentinel-pass ${sentinel_password}`,
    `sentinel monitor ${name} 127.0.0.1 ${master_port} 2`,
    `sentinel auth-pass ${name} ${password}`,
    `sentinel down-after-milliseconds ${name} 1000`,
    `sentinel failover-timeout ${name} 3000`,
  ];
  // It writes down there what it learns.
  writeFileSync(file, `${lines.join("\n")}\n`);
  const program = findRedisServer();
  if (program === undefined) throw new Error("there is no redis-server here; `pnpm test` installs it");
  return spawn(program, [file, "--sentinel"], { stdio: "ignore" });
}

function quiet(redis: Redis): Redis {
  redis.on("error", () => {});
  return redis;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
