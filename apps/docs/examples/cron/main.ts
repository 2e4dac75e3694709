import type { Queue } from "@atlasqueue/core";
import { createWorker, defineHandler, type Worker } from "@atlasqueue/worker";
import { z } from "zod";

/** Replaces the crontab line `0 3 * * * backup`. Every process of the application may call it at its start. */
export async function runBackups(
  { databaseUrl, queue }: { databaseUrl: string; queue: Queue },
  backUp: (signal: AbortSignal) => Promise<{ bytes: number }>,
): Promise<Worker> {
  await queue.schedules.put({
    name: "backup",
    cron: "0 3 * * *",
    timezone: "Europe/Berlin",
    // A run is left out while the one before is unfinished.
    job: { type: "backup", unique: { key: "backup" }, max_attempts: 3 },
  });
  const backup = defineHandler("backup", z.object({}), (_payload, { signal }) => backUp(signal), {
    timeoutSeconds: 3_600,
  });
  return createWorker({ databaseUrl, handlers: [backup], concurrency: 1 });
}
