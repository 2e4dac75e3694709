import type { RedisAddress } from "./address.ts";
import { dial, dialAnew, hangUp, type RedisTls } from "./dial.ts";
import { probeKey, type SignalKeys } from "../keys.ts";
import { goOn, openedConnections, type Servers } from "./servers.ts";
import { lookup } from "node:dns/promises";
import type { Redis } from "ioredis";

/** The connections to one server, or to whichever is the master of a sentinels' set. */
export function oneServer(
  to: Exclude<RedisAddress, { kind: "cluster" }>,
  keys: SignalKeys,
  options: { tls: RedisTls | undefined; command_ms_max: number },
): Servers {
  const commands = dial(to, { ...options, lazy: true });
  const opened = openedConnections();
  const redialAll = () => {
    dialAnew(commands);
    opened.redial();
  };
  const watch = to.kind === "sentinel" ? watchMaster(to, options.tls, { commands, moved: redialAll }) : undefined;
  return {
    commands,
    serverOf: () => "",
    slotOf: () => 0,
    connected: () => commands.status === "ready",
    probeKeys: () => [probeKey(keys.jobs)],
    infos: async () => [await commands.info()],
    onLost: (lost) => void commands.on("close", lost),
    open(kind, _key, ask) {
      const redis = opened.add(dial(to, { tls: options.tls, blocking: kind === "blocking" }), ask);
      return { redis, unblock: (id) => commands.client("UNBLOCK", id) };
    },
    redialAll,
    redialOpened: opened.redial,
    beat() {
      goOn(commands);
      watch?.beat();
      opened.beat();
    },
    close() {
      hangUp(commands);
      watch?.close();
      opened.close();
    },
  };
}

/**
 * After a failover the old master may go on taking writes for ten seconds, and for good where only the sentinels are cut
 * off from it. So one of them is asked now and then, on a connection of its own, whether our server is still the master.
 */
export function watchMaster(
  { sentinels, set, sentinel_login, ...to }: Extract<RedisAddress, { kind: "sentinel" }>,
  tls: RedisTls | undefined,
  { commands, moved }: { commands: Redis; moved: () => void },
): { beat(): void; close(): void } {
  let turn = 0;
  /** One at a time, as names may take long to look up. */
  let asking: Promise<void> | undefined;
  const where = () => sentinels[(turn += 1) % sentinels.length] ?? { host: "127.0.0.1", port: 26_379 };
  const server = { ...to, ...sentinel_login, kind: "server", server: where(), database: 0 } as const;
  const sentinel = dial(server, { tls, where, lazy: true });

  const ask = async (): Promise<void> => {
    const answer = await sentinel.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", set);
    if (!Array.isArray(answer) || commands.status !== "ready") return;
    const [host = "", port] = answer.map(String);
    // Sentinels may announce names. An address is its own.
    const addresses = (await lookup(host, { all: true })).map(({ address }) => address);
    const { remoteAddress = "", remotePort } = commands.stream;
    const same = Number(port) === remotePort && addresses.includes(remoteAddress.replace("::ffff:", ""));
    if (!same && commands.status === "ready") moved();
  };
  return {
    beat() {
      goOn(sentinel);
      if (sentinel.status === "ready")
        asking ??= ask()
          .catch(() => {})
          .finally(() => (asking = undefined));
    },
    close: () => hangUp(sentinel),
  };
}
