import { connectDatabase } from "@atlasqueue/core";
import { defaultTenant } from "@atlasqueue/core/internal";
import { queueStats } from "@atlasqueue/core/internal/http";
import type { Ours } from "../ours.ts";

/** Asks for the counts of the default tenant's queues, over one connection. */
export const openCounts: Ours["openCounts"] = async (servers) => {
  const database = connectDatabase({ url: servers.postgres, connectionsMax: 1, timeoutMs: 10_000 });
  return {
    async read() {
      const queues = await queueStats({ database }, defaultTenant);
      return queues.reduce((sum, { counts }) => sum + counts.queued + counts.succeeded, 0);
    },
    close: () => database.close(),
  };
};
