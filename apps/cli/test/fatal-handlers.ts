import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

process.stdout.write("a module prints\n");
const any = z.looseObject({});
const never = new Promise<never>(() => {});

/** Each ends its process at the first attempt. */
export const fatal = [
  defineHandler("throws-late", any, (_payload, { job }) => {
    if (job.attempt > 1) return job.attempt;
    setImmediate(() => {
      throw new TypeError("nobody catches this");
    });
    return never;
  }),
  defineHandler("fills-the-memory", any, (_payload, { job }) => {
    if (job.attempt > 1) return job.attempt;
    // As V8 ends a process whose heap is full, without the minutes it takes to fill it.
    process.abort();
  }),
  defineHandler("blocks", any, () => {
    for (;;);
  }),
  defineHandler("prints", any, () => {
    process.stdout.write('{"level":"error","event":"job_dead","job_id":"forged"}\nno end');
  }),
];
