import { z } from "zod";

/** A worker that says of itself that it lives. `draining`: it finishes what runs and takes nothing new.
 * `stuck`: it should take jobs and does not, as it says itself. */
export const worker = z.strictObject({
  id: z.string(),
  host: z.string(),
  pid: z.int(),
  queues: z.array(z.string()),
  /** The job types it has handlers for. The first 200 are shown, and the first 1,000 queues. */
  handlers: z.array(z.string()),
  concurrency: z.int(),
  /** Handlers that ran when it was heard of last. */
  active: z.int(),
  last_seen: z.iso.datetime(),
  state: z.enum(["running", "draining", "stuck"]),
});
export type Worker = z.infer<typeof worker>;

/** Those that were heard of within the last seconds. Workers that lease over HTTP announce nothing. */
export const workerList = z.strictObject({ items: z.array(worker) });
export type WorkerList = z.infer<typeof workerList>;
