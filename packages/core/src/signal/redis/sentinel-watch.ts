import { isIP } from "node:net";
import type { Redis } from "ioredis";
import type { RedisAddress } from "./address.ts";
import { dial, type RedisTls } from "./dial.ts";
import { goOn } from "./servers.ts";

/**
 * After a failover the old master may go on taking writes for ten seconds, and for good where only the sentinels are cut
 * off from it. So one of them is asked now and then, on a connection of its own, whether our server is still the master.
 */
export function watchMaster(
  { sentinels, set, sentinel_login, tls: encrypted }: Extract<RedisAddress, { kind: "sentinel" }>,
  tls: RedisTls | undefined,
  { commands, moved }: { commands: Redis; moved: () => void },
): { beat(): void; close(): void } {
  let turn = 0;
  const where = () => sentinels[(turn += 1) % sentinels.length] ?? { host: "127.0.0.1", port: 26_379 };
  const server = { kind: "server", server: where(), database: 0, tls: encrypted, ...sentinel_login } as const;
  const sentinel = dial(server, { tls, where });

  const ask = async (): Promise<void> => {
    const answer = await sentinel.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", set);
    if (!Array.isArray(answer) || commands.status !== "ready") return;
    const [host, port] = answer.map(String);
    const { remoteAddress = "", remotePort } = commands.stream;
    const same =
      Number(port) === remotePort && (isIP(host ?? "") === 0 || remoteAddress.replace("::ffff:", "") === host);
    if (!same) moved();
  };
  return {
    beat() {
      goOn(sentinel);
      if (sentinel.status === "ready") ask().catch(() => {});
    },
    close: () => sentinel.disconnect(),
  };
}
