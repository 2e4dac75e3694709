import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startRedis, type EmbeddedRedis } from "@atlasqueue/embedded";
import { eventually, tcpProxy, type TcpProxy } from "@atlasqueue/harness/servers";
import { Redis } from "ioredis";

export type RedisRig = {
  primary(): EmbeddedRedis;
  /** What is between the primary and its replica. */
  replication(): TcpProxy;
  /** A connection to the primary, for one piece of work; a command takes three seconds at most. */
  asAdmin<T>(act: (redis: Redis) => Promise<T>): Promise<T>;
  /** The replica takes over with what it has, the primary is killed, and a new replica follows. */
  promote(): Promise<void>;
  stop(): Promise<void>;
};

export type RedisOptions = { folder: string; moved(primary: EmbeddedRedis): void };

type Replica = { server: EmbeddedRedis; link: TcpProxy };

const password = "the-same-for-primary-and-replica";

/** A Redis and its replica. */
export async function startRedisRig({ folder, moved }: RedisOptions): Promise<RedisRig> {
  let made = 0;
  const start = () => {
    const dir = join(folder, `redis-${(made += 1)}`);
    mkdirSync(dir);
    return startRedis({ dir, password, args: ["--masterauth", password, "--repl-diskless-sync-delay", "0"] });
  };
  const ask = async <T>(url: string, act: (redis: Redis) => Promise<T>) => {
    const redis = new Redis(url, { maxRetriesPerRequest: 0, commandTimeout: 3_000, retryStrategy: () => null });
    redis.on("error", () => {});
    try {
      return await act(redis);
    } finally {
      redis.disconnect();
    }
  };
  const follow = async (of: EmbeddedRedis): Promise<Replica> => {
    const [server, link] = await Promise.all([start(), tcpProxy(of.url)]);
    // Not among its arguments: once it is promoted, it is not to be a replica again when it is restarted.
    await ask(server.url, (redis) => redis.replicaof("127.0.0.1", link.port));
    return { server, link };
  };
  let primary = await start();
  let replica = await follow(primary).catch(async (error: unknown) => {
    await primary.stop();
    throw error;
  });
  const synced = async () => (await ask(replica.server.url, (redis) => redis.info())).includes("master_link_status:up");
  await eventually(synced, { timeout_ms: 20_000 });
  return {
    primary: () => primary,
    replication: () => replica.link,
    asAdmin: (act) => ask(primary.url, act),
    async promote() {
      await ask(replica.server.url, (redis) => redis.replicaof("NO", "ONE"));
      const [old, link] = [primary, replica.link];
      primary = replica.server;
      moved(primary);
      await Promise.all([old.kill("SIGKILL"), link.close()]);
      await old.stop();
      replica = await follow(primary);
      await eventually(synced, { timeout_ms: 20_000 });
    },
    async stop() {
      await Promise.allSettled([primary.stop(), replica.server.stop(), replica.link.close()]);
    },
  };
}
