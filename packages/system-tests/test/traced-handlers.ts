import { createQueue } from "@atlasqueue/core";
import { openTelemetry } from "@atlasqueue/core/opentelemetry";
import { defineHandler } from "@atlasqueue/worker";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { z } from "zod";

/** Fails once, then makes a child job for a remote worker, inside a span of the user's own. */
export const parent = defineHandler(
  "traced.parent",
  z.object({ database_url: z.string() }),
  (payload, { job, logger }) =>
    trace.getTracer("my-app").startActiveSpan("my own work", async (span) => {
      try {
        logger.info("working");
        if (job.attempt === 1) throw new RangeError("not the first time");
        const queue = createQueue({ databaseUrl: payload.database_url, tracing: openTelemetry() });
        await queue.submit({ type: "traced.child", queue: "remote" });
        await queue.close();
      } finally {
        span.end();
      }
    }),
);

// What an SDK would register in the handler's own process, whose file says what it is.
if (process.argv[1]?.includes("isolate")) context.setGlobalContextManager(new AsyncLocalStorageContextManager());

/** In its own process: which span is active there, after a turn of the event loop. */
export const isolated = defineHandler(
  "traced.isolated",
  z.object({}),
  async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return { active: trace.getSpanContext(context.active())?.spanId ?? null };
  },
  { isolate: true },
);
