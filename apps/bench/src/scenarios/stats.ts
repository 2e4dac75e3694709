import { percentile } from "../run/statistics.ts";
import type { Ours } from "../variants/ours.ts";
import type { ServerUrls } from "../variants/variant.ts";
import { onlyOurs, oursOf, type Figure, type Scenario } from "./scenario.ts";

const reads = 200;
const warm_up_reads = 20;

/** The counts of a tenant's queues, asked for one after another beside a long history and a long backlog. */
export const stats: Scenario = {
  name: "stats",
  suits: onlyOurs,
  seconds_max: ({ history_rows, backlog_rows }) => 180 + (history_rows + backlog_rows) / 10_000,
  async run(variant, servers, effort) {
    const ours = oursOf(variant);
    await ours.migrate(servers);
    await ours.seedHistory(servers, effort.history_rows);
    await ours.seedBacklog(servers, effort.backlog_rows);
    return measureStats(ours, servers, effort.history_rows + effort.backlog_rows);
  },
};

/** Milliseconds of one answer: median and 99th percentile. The answer must count at least this many jobs. */
export async function measureStats(ours: Ours, servers: ServerUrls, jobs_min: number): Promise<Figure[]> {
  const counts = await ours.openCounts(servers);
  try {
    const taken_ms: number[] = [];
    for (let read = -warm_up_reads; read < reads; read += 1) {
      const start = performance.now();
      const jobs = await counts.read();
      if (read >= 0) taken_ms.push(performance.now() - start);
      if (jobs < jobs_min) throw new Error(`the counts are of ${jobs} jobs, not of ${jobs_min}`);
    }
    return [
      { scenario: "queue counts, full", unit: "ms", value: percentile(taken_ms, 50) },
      { scenario: "queue counts, full, p99", unit: "ms", value: percentile(taken_ms, 99) },
    ];
  } finally {
    await counts.close();
  }
}
