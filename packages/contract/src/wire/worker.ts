import { z } from "zod";

/**
 * A worker that announces itself as alive. `draining`: it finishes what runs and takes nothing new. `stuck`: by its own
 * account it should be taking jobs and is not.
 */
export const worker = z.strictObject({
  id: z.string(),
  host: z.string(),
  pid: z.int(),
  queues: z.array(z.string()),
  /** The job types it has handlers for. The first 200 types and the first 1,000 queues are shown. */
  handlers: z.array(z.string()),
  concurrency: z.int(),
  /** Handlers running when it was last heard from. */
  active: z.int(),
  last_seen: z.iso.datetime(),
  state: z.enum(["running", "draining", "stuck"]),
});
export type Worker = z.infer<typeof worker>;

/** Those heard from in the last seconds. Workers that lease over HTTP announce nothing. */
export const workerList = z.strictObject({ items: z.array(worker) });
export type WorkerList = z.infer<typeof workerList>;
