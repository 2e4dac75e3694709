import { connectDatabase } from "@atlasqueue/core";
import { defaultTenant, setLimits } from "@atlasqueue/core/internal";
import { productionObservers } from "../observers.ts";
import type { Limits } from "../ours.ts";
import type { ServerUrls } from "../variant.ts";

/** Set the limits of a queue; those left out are removed. */
export async function limit(
  servers: ServerUrls,
  { tenant = defaultTenant, queue }: { tenant?: string; queue: string },
  { concurrency, group_concurrency, fair }: Limits,
): Promise<void> {
  const { observe } = productionObservers();
  const database = connectDatabase({ url: servers.postgres, connectionsMax: 1, timeoutMs: 5_000 });
  const limits = {
    concurrency: concurrency ?? null,
    group_concurrency: group_concurrency ?? null,
    rate: null,
    group_rate: null,
    fair_by: fair ? ("group" as const) : null,
  };
  try {
    await setLimits({ database, observe }, { tenant, queue }, limits);
  } finally {
    await database.close();
  }
}
