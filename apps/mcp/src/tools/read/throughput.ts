import { statsSeriesQuery, type Durations, type StatsBucket, type StatsSeries } from "@atlasqueue/contract";
import { z } from "zod";
import { given, queue_name } from "../fields.ts";
import { reads, tool } from "../tool.ts";

const steps_max = 24;
const count = z.int().min(0);

const counts = z.object({ submitted: count, succeeded: count, failed: count, retried: count, dead: count });
const step = counts.extend({ at: z.iso.datetime() });
const duration_ms = z.number().min(0).nullable();
const durations = z.object({ count, p50_ms: duration_ms, p95_ms: duration_ms, p99_ms: duration_ms });
const sums = counts.extend({ wait: durations, run: durations });

const { window, queue, type } = statsSeriesQuery.shape;

export const getThroughput = tool({
  name: "get_throughput",
  title: "Get throughput",
  description:
    "What happened to jobs over the last 15 minutes, hour, day or month: how many were submitted, succeeded, failed, " +
    "were retried and died, and how long they waited and ran. Of everything, a queue, a type, or a type in a queue.",
  toolset: "read",
  scope: "read",
  hints: reads,
  input: z.strictObject({ window, queue_name: queue_name.optional().describe(queue.description ?? ""), type }),
  output: z.object({
    window,
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    total: sums,
    step_seconds: z.int(),
    steps: z.array(step),
  }),
  async run({ window: back, queue_name: of, type: one }, { client, signal, cuts }) {
    const series = await client.stats.series(given({ window: back, queue: of, type: one }), { signal });
    const together = Math.ceil(series.items.length / steps_max);
    if (together > 1) cuts.push(`steps: ${together} of the API's are one here, so that there are ${steps_max} at most`);
    const steps = [];
    for (let at = 0; at < series.items.length; at += together) steps.push(sumOf(series.items.slice(at, at + together)));
    return {
      window: series.window,
      from: series.from,
      to: series.to,
      total: showTotal(series.total),
      step_seconds: series.step_seconds * together,
      steps,
    };
  },
});

function showTotal({ submitted, succeeded, failed, retried, dead, wait, run }: StatsSeries["total"]) {
  return { submitted, succeeded, failed, retried, dead, wait: showDurations(wait), run: showDurations(run) };
}

const showDurations = ({ count: of, p50_ms, p95_ms, p99_ms }: Durations) => ({ count: of, p50_ms, p95_ms, p99_ms });

function sumOf(buckets: StatsBucket[]): z.output<typeof step> {
  const sum = (name: "submitted" | "succeeded" | "failed" | "retried" | "dead") =>
    buckets.reduce((total, bucket) => total + bucket[name], 0);
  return {
    at: buckets[0]?.at ?? "",
    submitted: sum("submitted"),
    succeeded: sum("succeeded"),
    failed: sum("failed"),
    retried: sum("retried"),
    dead: sum("dead"),
  };
}
