import type { RedisAddress } from "./address.ts";
import { dial, dialAnew, hangUp, type RedisTls } from "./dial.ts";
import { probeKey, type SignalKeys } from "../keys.ts";
import { watchMaster } from "./sentinel-watch.ts";
import { goOn, openedConnections, type Servers } from "./servers.ts";

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
