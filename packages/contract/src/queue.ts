import { z } from "zod";
import { jobStatuses } from "./job.ts";

const count = z.int().min(0);

/** A queue as people see it. Counts are kept, never counted: they cost the same whatever the history. */
export const queue = z.strictObject({
  queue: z.string(),
  paused: z.boolean(),
  counts: z.record(z.enum(jobStatuses), count),
  /** Since when the job has waited that has waited longest. */
  oldest_queued_at: z.iso.datetime().nullable(),
});
export type Queue = z.infer<typeof queue>;

export const queueList = z.strictObject({ items: z.array(queue) });
export type QueueList = z.infer<typeof queueList>;
