import { connectDatabase, migrateDatabase } from "@atlasqueue/core";
import { defaultTenant, queueStats } from "@atlasqueue/core/internal";
import { seedBacklog, seedHistory } from "../run/seed.ts";
import { percentile } from "../run/statistics.ts";
import type { ServerUrls } from "../variants/variant.ts";
import { onlyOurs, type Figure, type Scenario } from "./scenario.ts";

const reads = 200;
const warm_up_reads = 20;

/** The counts of a tenant's queues, asked for one after another beside a long history and a long backlog. */
export const stats: Scenario = {
  name: "stats",
  suits: onlyOurs,
  seconds_max: ({ history_rows, backlog_rows }) => 180 + (history_rows + backlog_rows) / 10_000,
  async run(_variant, servers, effort) {
    await migrateDatabase(servers.postgres);
    await seedHistory(servers, effort.history_rows);
    await seedBacklog(servers, effort.backlog_rows);
    return measureStats(servers, effort.history_rows + effort.backlog_rows);
  },
};

/** Milliseconds of one answer: median and 99th percentile. The answer must count at least this many jobs. */
export async function measureStats(servers: ServerUrls, jobs_min: number): Promise<Figure[]> {
  const database = connectDatabase({ url: servers.postgres, connectionsMax: 1, timeoutMs: 10_000 });
  try {
    const taken_ms: number[] = [];
    for (let read = -warm_up_reads; read < reads; read += 1) {
      const start = performance.now();
      const queues = await queueStats({ database }, defaultTenant);
      if (read >= 0) taken_ms.push(performance.now() - start);
      const jobs = queues.reduce((sum, { counts }) => sum + counts.queued + counts.succeeded, 0);
      if (jobs < jobs_min) throw new Error(`the counts are of ${jobs} jobs, not of ${jobs_min}`);
    }
    return [
      { scenario: "queue counts, full", unit: "ms", value: percentile(taken_ms, 50) },
      { scenario: "queue counts, full, p99", unit: "ms", value: percentile(taken_ms, 99) },
    ];
  } finally {
    await database.close();
  }
}
