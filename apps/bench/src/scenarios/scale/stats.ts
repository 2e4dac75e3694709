import { percentile } from "../../run/statistics.ts";
import type { Ours } from "../../variants/ours.ts";
import type { ServerUrls } from "../../variants/variant.ts";
import type { Figure } from "../scenario.ts";

const reads = 200;
const warm_up_reads = 20;

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
