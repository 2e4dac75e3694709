import { abort, runAttempt, succeeded, unknownType, type LazyAbort, type Outcome } from "@atlasqueue/runtime";
import type { Lease } from "@atlasqueue/core/internal/worker";
import { Context } from "./context.ts";
import { isIsolated, keptResult, type Handler } from "../handler.ts";
import { runIsolated, type Runtime } from "../isolate/run-isolated.ts";
import { NotStartedError } from "../isolate/child-process.ts";
import { jobOutput } from "../output/job-output.ts";

/**
 * Run one job to its outcome. Never rejects: an unknown type, a payload that does not fit, a result that cannot be
 * stored, a timeout and anything thrown fail that job alone. Aborting `lazy` aborts the handler's signal. A job for which no
 * process could be started has not begun.
 */
export async function runJob(
  lease: Lease,
  handler: Handler | undefined,
  lazy: LazyAbort,
  runtime: Runtime,
): Promise<Outcome> {
  if (!handler) return unknownType(lease.type);
  const { sinks } = runtime;
  const context = new Context(lease, lazy, sinks);
  const output = jobOutput((stream, line) => sinks.output(lease, stream, line));
  const timeout_seconds = lease.timeout_seconds ?? handler.options.timeoutSeconds;
  const outcome = await runAttempt<Outcome>(
    { timeout_seconds, abort: (reason) => abort(lazy, reason) },
    async (startClock) => {
      if (isIsolated(handler))
        return runIsolated(runtime, handler, { lease, lazy, context, started: startClock }).catch(notStarted);
      const value = output.of(() => handler.run(lease.payload, context));
      startClock();
      return succeeded(keptResult(handler, await value), context.spawned);
    },
  );
  output.end();
  const { lines } = context;
  return lines && outcome.kind !== "not_started" ? { ...outcome, log: lines } : outcome;
}

function notStarted(thrown: unknown): Outcome {
  if (thrown instanceof NotStartedError) return { kind: "not_started", error: String(thrown) };
  throw thrown;
}
