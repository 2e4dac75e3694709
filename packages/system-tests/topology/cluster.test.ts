import { dirname } from "node:path";
import { defaultKeys } from "@atlasqueue/core/internal";
import { clusterKeys, slotOf } from "../../core/src/signal/redis/cluster-keys.ts";
import { queueKeys } from "../../core/src/signal/keys.ts";
import { findRedisServer } from "@atlasqueue/embedded";
import { expect } from "vitest";
import { eventually, redisCluster, type ClusterServer } from "@atlasqueue/harness";
import { startSystem } from "../system/system.ts";
import { coreSuite } from "./harness/core-suite.ts";
import { blockWith } from "./harness/page.ts";
import { mustRun } from "./harness/run.ts";
import { startProcesses } from "./harness/topology.ts";

/** The list that most jobs of the load go through: what has it is what is broken. */
const { list } = queueKeys(clusterKeys(defaultKeys), { tenant: "default", queue: "default" });

async function start() {
  const [system, cluster] = await Promise.all([startSystem(), redisCluster({ replicas: 1 })]);
  const topology = await startProcesses(system, { env: { REDIS_URL: cluster.url }, beside: [cluster] });
  /** Until another server than this has the list. */
  const replaced = (server: ClusterServer) =>
    eventually(async () => {
      if ((await cluster.masterOf(list)) === server) throw new Error("not replaced yet");
    });
  /** Until each server of the list's shard follows, or is followed. */
  const whole = () =>
    eventually(async () => {
      const master = await cluster.masterOf(list);
      if (!String(await master.ask.info("replication")).includes("connected_slaves:1")) throw new Error("no replica");
    });
  /** A line of the page for operators. */
  const redisCli = async (command: string, ids: Record<string, string>) => {
    const [server] = cluster.servers;
    const { password, port } = new URL(server?.url ?? "");
    const env = { REDISCLI_AUTH: password, NODE: `127.0.0.1:${port}`, TOOLS: dirname(findRedisServer() ?? ""), ...ids };
    await mustRun("sh", ["-ec", `PATH="$TOOLS:$PATH"; ${command}`], { env });
  };
  return { ...topology, cluster, redisCli, replaced, whole };
}

coreSuite({
  start,
  outages: [
    {
      name: "a failover of a shard is ordered",
      fault: async ({ cluster }) => cluster.failover(await cluster.masterOf(list)),
    },
    {
      name: "a shard's master is killed, and comes back as a replica",
      async fault({ cluster, replaced, whole }) {
        await whole();
        const master = await cluster.masterOf(list);
        await master.kill("SIGKILL");
        await replaced(master);
        await master.restart();
      },
    },
    {
      name: "a shard's master is frozen until it is replaced",
      async fault({ cluster, replaced, whole }) {
        await whole();
        const master = await cluster.masterOf(list);
        master.pause();
        await replaced(master);
        master.resume();
      },
    },
    {
      name: "the queues' slot is moved to each other master and back",
      async fault({ cluster, whole }) {
        await whole();
        const first = await cluster.masterOf(list);
        const masters = new Set(await Promise.all(["a", "b", "c", "d"].map((key) => cluster.masterOf(key))));
        masters.delete(first);
        for (const master of [...masters, first]) await cluster.moveSlot(slotOf(list), master);
      },
    },
    {
      name: "a master's slots are moved with redis-cli to another one, and spread again",
      async fault({ cluster, whole, redisCli }) {
        await whole();
        const from = await cluster.masterOf(list);
        const to = (await Promise.all(["a", "b", "c", "d"].map((key) => cluster.masterOf(key)))).find(
          (one) => one !== from,
        );
        const ids = { FROM: from.id, TO: to?.id ?? "" };
        for (const line of blockWith("redis.md", "bash", "--cluster reshard").trim().split("\n")) {
          if (line.includes("--cluster check")) await eventually(() => redisCli(line, ids).then(() => true));
          else await redisCli(line, ids);
          if (line.includes("--cluster reshard")) expect(await cluster.masterOf(list)).toBe(to);
        }
      },
    },
    {
      name: "a shard is lost, master and replica, for good",
      async fault({ cluster, whole }) {
        await whole();
        const master = await cluster.masterOf(list);
        const lines = String(await master.ask.cluster("NODES")).split("\n");
        const shard = lines.filter((line) => line.includes(master.id)).map((line) => line.split(" ")[0]);
        const lost = cluster.servers.filter(({ id }) => shard.includes(id));
        await Promise.all(lost.map((server) => server.kill("SIGKILL")));
      },
    },
  ],
});
