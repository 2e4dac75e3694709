// Our adapter for the suite hardbyte/postgresql-job-queue-benchmarking: NEUTRAL.md has its figures.
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { connectDatabase, createLogger, createQueue, migrateDatabase } from "@atlasqueue/core";
import { createWorker, defineHandler } from "@atlasqueue/worker";
import { z } from "zod";
import pkg from "../package.json" with { type: "json" };
import manifest from "./adapter.json" with { type: "json" };
import { readAdapterConfig } from "./config.ts";
import { produce, watchDepth } from "./produce.ts";
import { emitSamples, latencyWindow } from "./sampler.ts";

const config = readAdapterConfig(process.env);
const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, SAMPLE_EVERY_S: sample_every_s } = config;
const stopping = new AbortController();
const { signal } = stopping;
for (const name of ["SIGTERM", "SIGINT"]) process.once(name, () => stopping.abort());
const of = { system: manifest.system, instance_id: config.BENCH_INSTANCE_ID };
const emit = (record: object) => process.stdout.write(`${JSON.stringify({ ...of, ...record })}\n`);

await migrateDatabase(databaseUrl);
emit({ kind: "descriptor", ...manifest, version: pkg.version, started_at: new Date().toISOString() });

const counts = { enqueued: 0, completed: 0, depth: 0, target_rate: 0 };
const latencies = latencyWindow(sample_every_s);
const logger = createLogger("warn", "atlasqueue-adapter", process.stderr);
const schema = z.object({ enqueued_at_ms: z.number(), padding: z.string() });
const work = defineHandler("bench", schema, async ({ enqueued_at_ms }) => {
  latencies.record(Date.now() - enqueued_at_ms);
  await delay(config.JOB_WORK_MS);
});
const worker = createWorker({
  databaseUrl,
  redisUrl,
  handlers: [work],
  concurrency: config.WORKER_COUNT,
  logger,
  observe: ({ event }) => void (event === "job_succeeded" && (counts.completed += 1)),
});
const queue = createQueue({ databaseUrl, redisUrl });
const database = connectDatabase({ url: databaseUrl, connectionsMax: 1, timeoutMs: 5_000 });

await Promise.all([
  produce(queue, { config, counts, signal }),
  watchDepth(database, { counts, signal }),
  emitSamples(emit, { counts, latencies, sample_every_s, is_observer: config.BENCH_INSTANCE_ID === 0, signal }),
  once(signal, "abort").then(() => worker.stop({ deadlineMs: 1_000 })),
]);
await Promise.all([queue.close(), database.close()]);
