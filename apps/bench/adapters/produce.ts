import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Database, Queue } from "@atlasqueue/core";
import type { AdapterConfig } from "./config.ts";
import type { Counts } from "./sampler.ts";

type Run = { config: AdapterConfig; counts: Counts; signal: AbortSignal };

const rest_ms = 200;

/** Submits jobs in batches, one after the other, until the signal aborts. */
export async function produce(queue: Queue, { config, counts, signal }: Run): Promise<void> {
  const padding = "x".repeat(Math.max(0, config.JOB_PAYLOAD_BYTES - 32));
  const { PRODUCER_BATCH_MAX: batch_max, PRODUCER_BATCH_MS: batch_ms, PRODUCER_MODE: mode } = config;
  let credit = 0;
  let credited_at = performance.now();
  await untilAborted("submit", signal, async () => {
    const now = performance.now();
    counts.target_rate = await targetRate(config);
    // By the time that really passed: a slow batch is made up for.
    credit += (counts.target_rate * (now - credited_at)) / 1_000;
    credited_at = now;
    const wanted = mode === "fixed" ? Math.floor(credit) : config.TARGET_DEPTH - counts.depth;
    const batch = Math.min(batch_max, wanted);
    if (batch > 0) {
      const payload = { enqueued_at_ms: Date.now(), padding };
      await queue.submitMany(Array.from({ length: batch }, () => ({ type: "bench", payload })));
      credit -= batch;
      counts.enqueued += batch;
    }
    return mode === "fixed" || batch <= 0 ? batch_ms - (performance.now() - now) : 0;
  });
}

/** During a phase of high load the suite writes another rate into its file. */
async function targetRate({ PRODUCER_RATE_CONTROL_FILE: file, PRODUCER_RATE: rate }: AdapterConfig): Promise<number> {
  const written = file === undefined ? "" : await readFile(file, "utf8").catch(() => "");
  return written.trim() === "" ? rate : Number(written);
}

/** Counts the jobs that wait, each 200 ms. */
export async function watchDepth({ sql }: Database, { counts, signal }: Omit<Run, "config">): Promise<void> {
  await untilAborted("depth", signal, async () => {
    const [row] = await sql<{ depth: number }[]>`
      SELECT count(*)::int AS depth FROM atlasqueue.jobs WHERE ready_at IS NOT NULL`;
    counts.depth = row?.depth ?? 0;
    return rest_ms;
  });
}

/** Again after as many milliseconds as it returns, or 200 ms after an error: PostgreSQL may be down for a while. */
async function untilAborted(name: string, signal: AbortSignal, turn: () => Promise<number>): Promise<void> {
  while (!signal.aborted) {
    const wait_ms = await turn().catch((error: unknown) => {
      process.stderr.write(`${name}: ${String(error)}\n`);
      return rest_ms;
    });
    if (wait_ms > 0) await delay(wait_ms, undefined, { signal }).catch(() => {});
  }
}
