import { createHistogram } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";

export type Counts = { enqueued: number; completed: number; depth: number; target_rate: number };
type Sampled = {
  counts: Counts;
  latencies: ReturnType<typeof latencyWindow>;
  sample_every_s: number;
  /** Whether it has the figures of the whole system too: so has the first replica only. */
  is_observer: boolean;
  signal: AbortSignal;
};

const latency_window_s = 30;

/** How long jobs waited in the last 30 seconds: one histogram of three figures for each sample. */
export function latencyWindow(sample_every_s: number) {
  const slices_max = Math.max(1, Math.floor(latency_window_s / sample_every_s));
  let slices = [createHistogram()];
  return {
    record: (ms: number) => slices.at(-1)?.record(Math.max(1, Math.round(ms * 1_000))),
    /** In milliseconds, 0 where there was none. Begins the next slice. */
    percentiles(): Record<string, number> {
      const all = createHistogram();
      for (const slice of slices) all.add(slice);
      slices = [...slices, createHistogram()].slice(-slices_max);
      return Object.fromEntries([50, 95, 99].map((p) => [`claim_p${p}_ms`, all.percentile(p) / 1_000]));
    },
  };
}

/** Emits a record for each metric, on every boundary of the clock, until the signal aborts. */
export async function emitSamples(emit: (record: object) => unknown, sampled: Sampled): Promise<void> {
  const { counts, latencies, sample_every_s, is_observer, signal } = sampled;
  const period_ms = sample_every_s * 1_000;
  let last = { enqueued: 0, completed: 0 };
  for (;;) {
    // A millisecond past the boundary, as a timer may be early by one.
    await delay(period_ms - (Date.now() % period_ms) + 1, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const { enqueued, completed, depth, target_rate } = counts;
    // By the whole period, also the first, so that the windows add up to the jobs.
    const rates = {
      enqueue_rate: (enqueued - last.enqueued) / sample_every_s,
      completion_rate: (completed - last.completed) / sample_every_s,
    };
    last = { enqueued, completed };
    const observed = is_observer ? { queue_depth: depth, producer_target_rate: target_rate } : {};
    const t = new Date().toISOString();
    const send = (window_s: number, metrics: Record<string, number>) => {
      for (const [metric, value] of Object.entries(metrics))
        emit({ t, kind: "adapter", subject_kind: "adapter", subject: "", metric, value, window_s });
    };
    send(latency_window_s, latencies.percentiles());
    send(sample_every_s, rates);
    send(0, observed);
  }
}
