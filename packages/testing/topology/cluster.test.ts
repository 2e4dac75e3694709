import { clusterKeys, defaultKeys, queueKeys, slotOf } from "@atlasqueue/core/internal";
import { eventually, redisCluster, type ClusterServer } from "../src/index.ts";
import { startSystem } from "../system/system.ts";
import { coreSuite } from "./harness/core-suite.ts";
import { startProcesses } from "./harness/topology.ts";

/** The list that most jobs of the load go through: what has it is what is broken. */
const { list } = queueKeys(clusterKeys(defaultKeys), { tenant: "default", queue: "default" });

async function start() {
  const [system, cluster] = await Promise.all([startSystem(), redisCluster({ replicas: 1 })]);
  const topology = await startProcesses(system, { env: { REDIS_URL: cluster.url } });
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
  return {
    ...topology,
    cluster,
    replaced,
    whole,
    async stop() {
      await topology.stop();
      await cluster.stop();
    },
  };
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
