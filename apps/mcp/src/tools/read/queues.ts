import { jobStatuses, type Queue } from "@atlasqueue/contract";
import { z } from "zod";
import type { Cuts } from "../../untrusted/excerpt.ts";
import { queueNamed } from "../queue-named.ts";
import { cursor, given, limit, next_cursor, queue_name } from "../fields.ts";
import { shownName } from "../job-views.ts";
import { reads, tool } from "../tool.ts";

const about = { toolset: "read", scope: "read", hints: reads } as const;
const count = z.int().min(0);
const rate = z.object({ limit: z.int(), period_seconds: z.number() }).nullable();

export const queueView = z.object({
  queue_name: z.string(),
  paused: z.boolean(),
  counts: z.record(z.enum(jobStatuses), count),
  limits: z.object({
    concurrency: z.int().nullable(),
    group_concurrency: z.int().nullable(),
    rate,
    group_rate: rate,
    fair_by: z.enum(["group"]).nullable(),
  }),
  defaults: z
    .record(z.string(), z.unknown())
    .describe("what jobs have that name nothing of their own; what is left out is the server's"),
  oldest_queued_at: z.iso.datetime().nullable(),
});

export function showQueue(
  cuts: Cuts,
  { queue, paused, counts, limits, defaults, oldest_queued_at }: Queue,
): z.output<typeof queueView> {
  const { concurrency, group_concurrency, rate: starts, group_rate, fair_by } = limits;
  return {
    queue_name: shownName(cuts, "queue_name", queue),
    paused,
    counts: countsOf(counts),
    limits: { concurrency, group_concurrency, rate: showRate(starts), group_rate: showRate(group_rate), fair_by },
    defaults: Object.fromEntries(Object.entries(defaults).filter(([, value]) => value !== null)),
    oldest_queued_at,
  };
}

const showRate = (of: Queue["limits"]["rate"]): z.output<typeof rate> =>
  of && { limit: of.limit, period_seconds: of.period_seconds };

function countsOf({ scheduled, blocked, queued, running, failed, succeeded, dead, cancelled }: Queue["counts"]) {
  return { scheduled, blocked, queued, running, failed, succeeded, dead, cancelled };
}

export const listQueues = tool({
  ...about,
  name: "list_queues",
  title: "List queues",
  description:
    "The queues: whether each is paused, its jobs by status, its limits, the defaults of its jobs, and since when its longest-waiting job has waited.",
  input: z.strictObject({ limit, cursor }),
  output: z.object({ queues: z.array(queueView), next_cursor }),
  async run({ limit: items, cursor: from }, { client, signal, cuts }) {
    const page = await client.queuePage(given({ limit: items, cursor: from }), { signal });
    return { queues: page.items.map((queue) => showQueue(cuts, queue)), next_cursor: page.next_cursor };
  },
});

const stats = z.object({
  queue_name: z.string(),
  pending: count,
  processing: count,
  completed: count,
  failed: count,
  cancelled: count,
  dead: count,
  total: count,
  oldest_pending_created_at: z.iso
    .datetime()
    .nullable()
    .describe("since when the longest-waiting ready job has waited"),
});

export const getQueueStats = tool({
  ...about,
  name: "get_queue_stats",
  title: "Get the counts of queues",
  description:
    "Jobs of each queue in a few words: pending (scheduled, blocked, queued, and failed ones that will be retried), " +
    "processing, completed, cancelled, dead. failed is the part of pending that waits for a retry.",
  input: z.strictObject({ queue_name: queue_name.optional().describe(queue_name.description ?? ""), limit, cursor }),
  output: z.object({ queues: z.array(stats), next_cursor }),
  async run({ queue_name: name, limit: items, cursor: from }, { client, signal, cuts }) {
    if (name !== undefined) {
      const found = await queueNamed(client, name, { signal });
      return { queues: [showStats(cuts, found)], next_cursor: null };
    }
    const page = await client.queuePage(given({ limit: items, cursor: from }), { signal });
    return { queues: page.items.map((queue) => showStats(cuts, queue)), next_cursor: page.next_cursor };
  },
});

function showStats(cuts: Cuts, { queue, counts, oldest_queued_at }: Queue): z.output<typeof stats> {
  const { scheduled, blocked, queued, running, failed, succeeded, dead, cancelled } = counts;
  const pending = scheduled + blocked + queued + failed;
  return {
    queue_name: shownName(cuts, "queue_name", queue),
    pending,
    processing: running,
    completed: succeeded,
    failed,
    cancelled,
    dead,
    total: pending + running + succeeded + dead + cancelled,
    oldest_pending_created_at: oldest_queued_at,
  };
}
