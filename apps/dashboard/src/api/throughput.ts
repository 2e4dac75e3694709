import { useMemo } from "react";
import type { Throughput } from "@atlasqueue/contract";
import { serverNow } from "../lib/clock.ts";
import { wentOf, type Went } from "../lib/went.ts";
import { client } from "./client.ts";
import { useLive } from "./queries.ts";
import { slow_refresh_ms } from "./refresh.ts";

/** As the API takes at once. */
const queues_max = 100;
/** How the jobs of each of these queues went in the last hour: one question for all of them. */
export function useThroughput(queues: readonly string[]): ReadonlyMap<string, Went> {
  const asked = queues.slice(0, queues_max);
  const { data } = useLive<Throughput>({
    key: ["throughput", asked.join(",")],
    ask: (signal) => client.stats.throughput(asked, { signal }),
    every_ms: slow_refresh_ms,
    keep: true,
    enabled: asked.length > 0,
  });
  return useMemo(() => (data ? wentOf(data, serverNow()) : new Map<string, Went>()), [data]);
}
