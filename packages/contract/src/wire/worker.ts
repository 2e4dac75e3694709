import { z } from "zod";
import { describeFields } from "../checks/field-texts.ts";

/**
 * A worker that announces itself as alive. `draining`: it finishes what runs and takes nothing new. `stuck`: by its own
 * account it should be taking jobs and is not.
 */
export const worker = describeFields(
  z.strictObject({
    id: z.string(),
    host: z.string(),
    pid: z.int(),
    queues: z.array(z.string()),
    handlers: z.array(z.string()),
    concurrency: z.int(),
    active: z.int(),
    last_seen: z.iso.datetime(),
    state: z.enum(["running", "draining", "stuck"]),
    started_at: z.iso.datetime().nullable(),
    version: z.string().nullable(),
    memory_bytes: z.int().nullable(),
    jobs_per_minute: z.int().nullable(),
  }),
  {
    id: "The worker's id.",
    host: "The name of its machine.",
    pid: "Its process id.",
    queues: "The queues it takes jobs of, 1,000 at most.",
    handlers: "The job types that it has handlers for, 200 at most.",
    concurrency: "How many jobs it runs at once.",
    active: "How many jobs it ran when it was last seen.",
    last_seen: "When it sent its last heartbeat.",
    state: "`draining` finishes its jobs and takes none. `stuck` should take jobs, and does not: restart it.",
    started_at: "When it started. Null if its version does not report it.",
    version: "The version of AtlasQueue that it runs. Null if it does not report it.",
    memory_bytes: "The memory of its process, handlers in processes of their own aside. Null if it does not report it.",
    jobs_per_minute: "How many handlers ended in its last minute. Null if it does not report it.",
  },
);
export type Worker = z.infer<typeof worker>;

/** Those heard from in the last seconds. Workers that lease over HTTP announce nothing. */
export const workerList = describeFields(z.strictObject({ items: z.array(worker) }), {
  items: "The workers that were seen in the last seconds. HTTP workers are not listed.",
});
export type WorkerList = z.infer<typeof workerList>;
