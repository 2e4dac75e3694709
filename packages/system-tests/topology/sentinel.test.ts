import { eventually, sentinelSet } from "@atlasqueue/harness";
import { startSystem } from "../system/system.ts";
import { coreSuite } from "./harness/core-suite.ts";
import { startProcesses } from "./harness/topology.ts";

async function start() {
  const [system, set] = await Promise.all([startSystem(), sentinelSet()]);
  const topology = await startProcesses(system, { env: { REDIS_URL: set.url }, beside: [set] });
  /** As it must be before the sentinels can replace the master again. */
  const whole = () =>
    eventually(
      async () => {
        const replicas = (await set.sentinel.call("SENTINEL", "REPLICAS", "jobs")) as string[][];
        const fact = (field: string) => replicas.map((one) => one[one.indexOf(field) + 1]).join();
        if (fact("flags") !== "slave" || fact("master-link-status") !== "ok") throw new Error("no replica is well");
      },
      { timeout_ms: 60_000, interval_ms: 100 },
    );
  /** Until another server than this is the master. */
  const replaced = (server: Awaited<ReturnType<typeof set.master>>) =>
    eventually(async () => {
      if ((await set.master()) === server) throw new Error("not replaced yet");
    });
  return { ...topology, set, whole, replaced };
}

coreSuite({
  start,
  outages: [
    { name: "a failover is ordered", fault: ({ set }) => set.failover() },
    {
      name: "the master is killed, and comes back as a replica",
      async fault({ set, whole, replaced }) {
        await whole();
        const master = await set.master();
        await master.kill("SIGKILL");
        await replaced(master);
        await master.restart();
      },
    },
    {
      name: "the master is frozen until it is replaced",
      async fault({ set, whole, replaced }) {
        await whole();
        const master = await set.master();
        master.pause();
        await replaced(master);
        master.resume();
      },
    },
    {
      name: "all sentinels and servers are killed, for good",
      async fault({ set, whole }) {
        await whole();
        for (const sentinel of set.sentinels) sentinel.kill("SIGKILL");
        await Promise.all(set.servers.map((server) => server.kill("SIGKILL")));
      },
    },
  ],
});
