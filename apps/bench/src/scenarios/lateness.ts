import { createQueue, migrateDatabase } from "@atlasqueue/core";
import { percentile } from "../run/statistics.ts";
import { startAtlasWorker } from "../variants/atlas-worker.ts";
import { makePayload } from "../run/payload.ts";
import { onlyOurs, type Figure, type Scenario } from "./scenario.ts";

const jobs = 200;
const ahead_ms_min = 100;
const ahead_ms_max = 3_000;

/** Jobs scheduled for the next three seconds: from `run_at` to the handler's first line. */
export const lateness: Scenario = {
  name: "lateness",
  suits: onlyOurs,
  async run(_variant, servers) {
    await migrateDatabase(servers.postgres);
    const queue = createQueue({ databaseUrl: servers.postgres, redisUrl: servers.redis_memory });
    const due: number[] = [];
    const late: number[] = [];
    const all = Promise.withResolvers<void>();
    const handle = ({ n }: { n: number }) => {
      late.push(now() - (due[n] ?? NaN));
      if (late.length === jobs) all.resolve();
    };
    const worker = startAtlasWorker(servers, { queue: "default", handle, succeeded() {} });
    try {
      await queue.submitMany(
        Array.from({ length: jobs }, (_, n) => {
          const ahead_ms = ahead_ms_min + ((ahead_ms_max - ahead_ms_min) * n) / (jobs - 1);
          const run_at = new Date(Math.round(now() + ahead_ms));
          due.push(run_at.getTime());
          return { type: "noop", payload: makePayload(n), run_at: run_at.toISOString() };
        }),
      );
      await all.promise;
      return [50, 99].map((p): Figure => {
        return { scenario: `lateness p${p}`, unit: "ms", value: percentile(late, p) };
      });
    } finally {
      await worker.stop();
      await queue.close();
    }
  },
};

/** The time of day with the resolution of a stopwatch. */
const now = () => performance.timeOrigin + performance.now();
