import type { Cluster, Redis } from "ioredis";
import type { Endpoint, RedisAddress } from "./address.ts";
import { slotOf, type ClusterKeys } from "./cluster-keys.ts";
import type { ScriptedRedis } from "./commands.ts";
import { dial, dialAnew, dialCluster, hangUp, type RedisTls } from "./dial.ts";
import { probeKey } from "../keys.ts";
import { goOn, openedConnections, type Servers } from "./servers.ts";

/**
 * The connections to the masters of a cluster: one to each for commands, which ioredis' client of clusters makes and
 * routes, and plain ones for blocking pops and notices. Those follow a slot: before each dial the client is asked where
 * it is by now.
 */
export function clusterServers(
  to: Extract<RedisAddress, { kind: "cluster" }>,
  keys: ClusterKeys,
  options: { tls: RedisTls | undefined; command_ms_max: number },
): Servers {
  const cluster: Cluster = dialCluster(to, options);
  const opened = openedConnections();
  /** As `host:port`; empty while no server is known to have the slot. */
  const serverOf = (key: string) => cluster.slots[slotOf(key)]?.[0] ?? "";
  const connectionTo = (server: string) => cluster.nodes("master").find((node) => nameOf(node) === server);
  const probeKeys = () => [...new Map(keys.bases.map(probeKey).map((key) => [serverOf(key), key])).values()];

  const owner = (key: string): Endpoint => endpointOf(serverOf(key)) ?? anyone();
  const anyone = (): Endpoint => {
    const known = cluster.nodes("master").flatMap((node) => endpointOf(nameOf(node)) ?? []);
    const all = known.length > 0 ? known : to.servers;
    return all[Math.floor(Math.random() * all.length)] as Endpoint;
  };

  return {
    // Its commands have the same types, and it has our scripts.
    commands: cluster as unknown as ScriptedRedis,
    serverOf,
    slotOf,
    connected: (key) => connectionTo(serverOf(key))?.status === "ready",
    probeKeys,
    infos: () => Promise.all(cluster.nodes("master").map((node) => node.info().catch(() => ""))),
    onLost(lost) {
      cluster.on("close", lost);
      cluster.on("-node", lost);
    },
    open(kind, key, ask) {
      const where = () => {
        // In time for one of the next dials.
        cluster.refreshSlotsCache();
        return kind === "blocking" ? owner(key) : anyone();
      };
      const server = { ...to, kind: "server", server: where(), database: 0 } as const;
      const dialled = { tls: options.tls, blocking: kind === "blocking", where };
      const redis = opened.add(dial(server, dialled), ask);
      return { redis, unblock: async (id) => connectionTo(nameOf(redis))?.client("UNBLOCK", id) };
    },
    redialAll() {
      dialAnew(cluster);
      opened.redial();
    },
    redialOpened: opened.redial,
    beat() {
      goOn(cluster);
      opened.beat();
    },
    close() {
      hangUp(cluster);
      opened.close();
    },
  };
}

const nameOf = ({ options }: Redis) => `${options.host}:${options.port}`;

function endpointOf(server: string): Endpoint | undefined {
  const colon = server.lastIndexOf(":");
  return colon === -1 ? undefined : { host: server.slice(0, colon), port: Number(server.slice(colon + 1)) };
}
