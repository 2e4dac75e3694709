import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRedisServer, freePort, startRedis, type EmbeddedRedis } from "@atlasqueue/embedded";
import { Redis } from "ioredis";
import { eventually } from "../eventually.ts";
import { tlsFiles, type Authority } from "./certificates.ts";

export type RedisCluster = {
  /** `redis+cluster://` with all servers and their password. */
  readonly url: string;
  /** Masters first, as they were at the start. */
  readonly servers: readonly ClusterServer[];
  /** The server that has a key now. */
  masterOf(key: string): Promise<ClusterServer>;
  /** Moves one slot, keys and all, to another master, as an operator does with `redis-cli --cluster reshard`. */
  moveSlot(slot: number, to: ClusterServer): Promise<void>;
  /** Makes the replica of a server its master, and resolves when the others know. */
  failover(master: ClusterServer): Promise<void>;
  stop(): Promise<void>;
};

/** `ask` is a connection to this server alone; `id` is its name in the cluster. */
export type ClusterServer = EmbeddedRedis & { readonly ask: Redis; readonly id: string };

export type RedisClusterOptions = {
  replicas?: number;
  args?: readonly string[];
  /** Its URL is then `rediss+cluster://`, and who comes has to show a certificate of this authority. */
  tls?: Authority | undefined;
};

const password = "the-same-for-all-of-them";

/**
 * A Redis Cluster of three masters, with as many replicas each as asked for, that notices a lost server within a second
 * or two. Its other parts go on when one is lost, unless `args` say otherwise. Stopping it is up to you.
 *
 * @example
 * const cluster = await redisCluster({ replicas: 1 });
 * afterAll(() => cluster.stop());
 */
export async function redisCluster({ replicas = 0, args = [], tls }: RedisClusterOptions = {}): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-cluster-"));
  chmodSync(folder, 0o777);
  const certificate = tls?.issue("cluster", ["IP:127.0.0.1"]);
  const files = tls && certificate && tlsFiles(tls, certificate);
  const started: (EmbeddedRedis & { address: string })[] = [];
  const asking: Redis[] = [];
  const stop = async () => {
    for (const ask of asking) ask.disconnect();
    await Promise.all(started.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (let at = 0; at < 3 * (1 + replicas); at += 1) started.push(await startOne(folder, at, args, files));
    const addresses = started.map(({ address }) => address);
    createCluster(
      started.map(({ port }) => `127.0.0.1:${port}`),
      replicas,
    );
    const servers = await Promise.all(
      started.map(async (server) => {
        const ask = new Redis(server.url);
        ask.on("error", () => {});
        asking.push(ask);
        return Object.assign(server, { ask, id: String(await ask.cluster("MYID")) });
      }),
    );
    await eventually(async () => {
      for (const { ask } of servers)
        if (!String(await ask.cluster("INFO")).includes("cluster_state:ok")) throw new Error("not all know the others");
    });
    return {
      url: `${tls ? "rediss" : "redis"}+cluster://:${password}@${addresses.join(",")}`,
      servers,
      ...acts(servers),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startOne(
  folder: string,
  at: number,
  args: readonly string[],
  files: Record<string, string> | undefined,
): Promise<EmbeddedRedis & { address: string }> {
  const tls_port = files && (await freePort());
  const settings = {
    dir: folder,
    dbfilename: `${at}.rdb`,
    masterauth: password,
    "repl-diskless-sync-delay": 0,
    "cluster-enabled": "yes",
    "cluster-config-file": join(folder, `nodes-${at}.conf`),
    // By default it is a port 10,000 above, which may be none.
    "cluster-port": await freePort(),
    "cluster-node-timeout": 1_000,
    "cluster-require-full-coverage": "no",
    "cluster-replica-validity-factor": 0,
    "cluster-allow-replica-migration": "no",
    ...(tls_port && { ...files, "tls-port": tls_port, "tls-cluster": "yes", "tls-replication": "yes" }),
  };
  const given = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = await startRedis({ password, args: [...given, ...args] });
  return Object.assign(server, { address: `127.0.0.1:${tls_port ?? server.port}` });
}

/** As the manual says to do it; over TLS redis-cli 7.0 ends without a word. */
function createCluster(addresses: readonly string[], replicas: number): void {
  const client = findRedisServer()?.replace(/-server$/, "-cli") ?? "";
  const { status, stdout, stderr } = spawnSync(
    client,
    [
      "--cluster",
      "create",
      ...addresses,
      "--cluster-replicas",
      String(replicas),
      "--cluster-yes",
      "-a",
      password,
      "--no-auth-warning",
    ],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`${client} could not create the cluster: ${stdout}${stderr}`);
}

function acts(servers: readonly ClusterServer[]): Pick<RedisCluster, "masterOf" | "moveSlot" | "failover"> {
  const byId = (id: string) => servers.find((server) => server.id === id);
  /** As one that answers sees it. */
  const nodes = async (from: readonly ClusterServer[] = servers): Promise<string[][]> => {
    const answers = from.map(({ ask }) => ask.cluster("NODES"));
    return String(await Promise.any(answers))
      .trim()
      .split("\n")
      .map((line) => line.split(" "));
  };
  const masterOfSlot = async (slot: number, from_sight_of = servers): Promise<ClusterServer> => {
    for (const [id = "", , , , , , , , ...ranges] of await nodes(from_sight_of))
      for (const range of ranges) {
        const [from, to = from] = range.split("-").map(Number);
        const server = byId(id);
        if (server && slot >= Number(from) && slot <= Number(to)) return server;
      }
    throw new Error(`no server has slot ${slot}`);
  };
  return {
    masterOf: async (key) =>
      masterOfSlot(Number(await Promise.any(servers.map(({ ask }) => ask.cluster("KEYSLOT", key))))),
    async moveSlot(slot, to) {
      const from = await masterOfSlot(slot);
      await to.ask.cluster("SETSLOT", slot, "IMPORTING", from.id);
      await from.ask.cluster("SETSLOT", slot, "MIGRATING", to.id);
      for (;;) {
        const keys = (await from.ask.cluster("GETKEYSINSLOT", slot, 10)) as string[];
        if (keys.length === 0) break;
        await from.ask.call("MIGRATE", "127.0.0.1", to.port, "", 0, 5_000, "AUTH", password, "KEYS", ...keys);
      }
      for (const { ask } of [to, from, ...servers])
        await ask.cluster("SETSLOT", slot, "NODE", to.id).catch((error: Error) => {
          if (!error.message.includes("only with masters")) throw error;
        });
      // Replicas hear of it from the others.
      await eventually(async () => {
        for (const server of servers)
          if ((await masterOfSlot(slot, [server])) !== to) throw new Error("not all know who has the slot");
      });
    },
    async failover(master) {
      const replica = (await nodes())
        .filter(([, , flags = "", of]) => flags.includes("slave") && of === master.id)
        .map(([id = ""]) => byId(id))
        .find(Boolean);
      if (!replica) throw new Error("the server has no replica");
      await eventually(async () => {
        await replica.ask.cluster("FAILOVER").catch(() => {});
        for (const server of servers) {
          const [, , flags] = (await nodes([server])).find(([id]) => id === replica.id) ?? [];
          if (!flags?.includes("master")) throw new Error("not all know it as a master yet");
        }
      });
    },
  };
}
