import { tcpProxy } from "@atlasqueue/harness";
import { startSystem } from "../system/system.ts";
import { coreSuite } from "./harness/core-suite.ts";
import { startProcesses } from "./harness/topology.ts";

async function start() {
  const system = await startSystem();
  const toApi = await tcpProxy(system.servers.postgres.url);
  const toWorkers = await tcpProxy(system.servers.postgres.url);
  const topology = await startProcesses(system, {
    apiEnv: { DATABASE_URL: toApi.url },
    workerEnv: { DATABASE_URL: toWorkers.url },
    beside: [toApi, toWorkers].map((proxy) => ({ stop: () => proxy.close() })),
  });
  return { ...topology, toApi, toWorkers };
}

/** As when a firewall forgets its connections: open ones are silent from now on, new ones are served. */
const forget = async (proxy: Awaited<ReturnType<typeof tcpProxy>>) => {
  proxy.blackhole();
  proxy.heal();
};

coreSuite({
  start,
  outages: [
    { name: "the API's connections to PostgreSQL fall silent", fault: ({ toApi }) => forget(toApi) },
    { name: "the workers' connections to PostgreSQL fall silent", fault: ({ toWorkers }) => forget(toWorkers) },
  ],
});
