import { Redis } from "ioredis";
import type { Meter, Rate } from "../costs/meter.ts";
import { emptyTables, seedBacklog, seedHistory } from "../run/seed.ts";
import { openAtlas } from "../variants/atlas.ts";
import { startAtlasWorker } from "../variants/atlas-worker.ts";
import type { ServerUrls } from "../variants/variant.ts";
import { measureAdds } from "./add.ts";
import { measureBulkAdd } from "./bulk-add.ts";
import { measureProcess } from "./process.ts";
import { measureStats } from "./stats.ts";
import { onlyOurs, type Effort, type Figure, type Scenario } from "./scenario.ts";

const rows_per_second_min = 10_000;

/**
 * What size costs: the same measurements on empty tables, and then beside a long history and a long backlog. The
 * measured jobs have their own queue, the backlog is in another.
 */
export const history: Scenario = {
  name: "history",
  suits: onlyOurs,
  seconds_max: ({ history_rows, backlog_rows }) => 180 + (history_rows + backlog_rows) / rows_per_second_min,
  async run(_variant, servers, effort, meter) {
    // Not counted: otherwise the empty tables would be measured with code still being compiled.
    await measureAll(servers, meter, effort, "empty");
    await startAnew(servers);
    const empty = await measureAll(servers, meter, effort, "empty");
    await startAnew(servers);
    await seedHistory(servers, effort.history_rows);
    await seedBacklog(servers, effort.backlog_rows);
    const full = await measureAll(servers, meter, effort, "full");
    full.push(...(await measureStats(servers, effort.history_rows + effort.backlog_rows)));
    const jobs = Math.min(effort.jobs, effort.backlog_rows);
    const backlog = await processBacklog(servers, meter, jobs);
    return [...empty, ...full, { scenario: "process the backlog, full", ...backlog }];
  },
};

async function measureAll(
  servers: ServerUrls,
  meter: Meter,
  effort: Effort,
  size: "empty" | "full",
): Promise<Figure[]> {
  const queue = await openAtlas(servers, { queue: "fresh" });
  try {
    const processed = await measureProcess(queue, meter, effort.jobs);
    const added = await measureAdds(queue, meter, 50, effort);
    const bulk = await measureBulkAdd(queue, meter, effort);
    return [
      { scenario: `add, 50 callers, ${size}`, ...added },
      { scenario: `bulk add by 1,000, ${size}`, ...bulk },
      { scenario: `process, ${size}`, ...processed },
    ];
  } finally {
    await queue.close();
  }
}

/** Of those that have waited, up to a number. */
async function processBacklog(servers: ServerUrls, meter: Meter, jobs: number): Promise<Rate> {
  let succeeded = 0;
  const all = Promise.withResolvers<void>();
  const measurement = await meter.start();
  const worker = startAtlasWorker(servers, {
    queue: "default",
    handle() {},
    succeeded() {
      succeeded += 1;
      if (succeeded === jobs) all.resolve();
    },
  });
  await all.promise;
  return measurement.end(jobs, () => worker.stop());
}

async function startAnew(servers: ServerUrls): Promise<void> {
  const redis = new Redis(servers.redis_memory);
  await redis.flushall();
  redis.disconnect();
  await emptyTables(servers);
}
