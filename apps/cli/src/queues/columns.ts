import type { JobStatus, Queue } from "@atlasqueue/contract";
import { duration } from "../output/plain.ts";
import type { Columns } from "../output/table.ts";
import { limitsText } from "./limits.ts";

const count = (status: JobStatus) => (queue: Queue) => String(queue.counts[status] ?? 0);

/** How long the longest-waiting job has waited. */
export function waitOf({ oldest_queued_at }: Queue, now_ms: number): string {
  return oldest_queued_at === null ? "" : duration(now_ms - Date.parse(oldest_queued_at));
}

export const queueColumns: Columns<Queue> = {
  queue: ({ queue }) => queue,
  state: ({ paused }) => (paused ? "paused" : "open"),
  scheduled: count("scheduled"),
  blocked: count("blocked"),
  queued: count("queued"),
  running: count("running"),
  failed: count("failed"),
  succeeded: count("succeeded"),
  dead: count("dead"),
  cancelled: count("cancelled"),
  waiting: (queue) => waitOf(queue, Date.now()),
  limits: ({ limits }) => limitsText(limits),
};
