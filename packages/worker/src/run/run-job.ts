import { ParkedError, type Tracing } from "@atlasqueue/contract";
import type { Lease } from "@atlasqueue/core/internal";
import { Context, type Sinks } from "./context.ts";
import type { Handler } from "../handler.ts";
import { isIsolated, runIsolated } from "../isolate/run-isolated.ts";
import type { ChildPool } from "../isolate/child-pool.ts";
import { NotStartedError } from "../isolate/child-process.ts";
import { abort, type LazyAbort } from "./lazy-abort.ts";
import { failed, succeeded, type Ending, type Outcome } from "./outcome.ts";
import { jobOutput } from "../output/job-output.ts";

export type Runtime = { sinks: Sinks; children: ChildPool; tracing?: Tracing | undefined };

/**
 * Run one job to its outcome. Never rejects: an unknown type, a payload that does not fit, a result that cannot be
 * stored, a timeout and anything thrown fail that job alone. Aborting `lazy` aborts the handler's signal; one that was
 * parked has not ended, and one for which no process could be started has not begun.
 */
export async function runJob(
  lease: Lease,
  handler: Handler | undefined,
  lazy: LazyAbort,
  runtime: Runtime,
): Promise<Outcome> {
  if (!handler) return failed(new Error(`no handler for type ${JSON.stringify(lease.type)}`), "UnknownType");
  const { sinks } = runtime;
  const context = new Context(lease, lazy, sinks);
  const output = jobOutput((stream, line) => sinks.output(lease, stream, line));
  const run = () => output.of(() => handler.run(lease.payload, context));
  const timeout_seconds = lease.timeout_seconds ?? handler.options.timeoutSeconds;
  let outcome: Ending;
  try {
    outcome =
      timeout_seconds === undefined && !isIsolated(handler)
        ? succeeded(handler, await run(), context.spawned)
        : await inTime(lazy, timeout_seconds, async (startClock) => {
            if (isIsolated(handler))
              return runIsolated(
                runtime.children,
                handler,
                lease,
                lazy,
                context,
                sinks,
                startClock,
                runtime.tracing?.active(),
              );
            const value = run();
            startClock();
            return succeeded(handler, await value, context.spawned);
          });
  } catch (thrown) {
    // What a handler throws here may not even be asked what it is.
    if (isIsolated(handler) && thrown instanceof NotStartedError) return { kind: "not_started", error: String(thrown) };
    outcome = failed(thrown);
  }
  output.end();
  // Whatever the handler made of it.
  if (lazy.reason instanceof ParkedError) return { kind: "parked" };
  const { lines } = context;
  return lines ? { ...outcome, log: lines } : outcome;
}

/** The outcome, or a TimeoutError that long after `attempt` has started the clock. */
async function inTime(
  lazy: LazyAbort,
  timeout_seconds: number | undefined,
  attempt: (startClock: () => void) => Promise<Ending>,
): Promise<Ending> {
  const timeout = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const startClock = () => {
    if (timeout_seconds === undefined) return;
    timer = setTimeout(() => {
      const error = new DOMException(`the handler ran longer than ${timeout_seconds} s`, "TimeoutError");
      timeout.reject(error);
      abort(lazy, error);
    }, timeout_seconds * 1_000);
  };
  try {
    return await Promise.race([attempt(startClock), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
