import { defineHandler, type Handler } from "@atlasqueue/worker";
import { z } from "zod";
import { setTimeout as sleep } from "node:timers/promises";

/** Does nothing, and is always available. */
export const noopHandler: Handler = defineHandler("noop", z.looseObject({}), () => null);

/** Handlers for trying out a system: the submitter decides how long jobs take and whether they fail. */
export const demoHandlers: Handler[] = [
  defineHandler("demo.echo", z.looseObject({}), (payload) => payload),
  defineHandler("demo.sleep", z.object({ ms: z.number().min(0).max(86_400_000) }), async ({ ms }, { signal }) => {
    await sleep(ms, undefined, { signal });
    return { slept_ms: ms };
  }),
  defineHandler("demo.fail", z.object({ message: z.string().default("failed on request") }), ({ message }) => {
    throw new Error(message);
  }),
  defineHandler("demo.flaky", z.object({ fail_times: z.int().min(0) }), ({ fail_times }, { job }) => {
    if (job.attempt <= fail_times) throw new Error(`attempt ${job.attempt} of ${fail_times} that fail`);
    return { succeeded_at_attempt: job.attempt };
  }),
];
