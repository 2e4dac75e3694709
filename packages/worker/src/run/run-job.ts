import type { Lease } from "@atlasqueue/core/internal";
import { Context, type Sinks } from "./context.ts";
import type { Handler } from "../handler.ts";
import { isIsolated, runIsolated } from "../isolate/run-isolated.ts";
import type { ChildPool } from "../isolate/child-pool.ts";
import { abort, type LazyAbort } from "./lazy-abort.ts";
import { failed, succeeded, type Outcome } from "./outcome.ts";
import { jobOutput } from "../output/job-output.ts";

export type Runtime = { sinks: Sinks; children: ChildPool };

/**
 * Run one job to its outcome. Never rejects: an unknown type, a payload that does not fit, a result that cannot be
 * stored, a timeout and anything thrown fail that job alone. Aborting `lazy` aborts the handler's signal.
 */
export async function runJob(
  lease: Lease,
  handler: Handler | undefined,
  lazy: LazyAbort,
  { sinks, children }: Runtime,
): Promise<Outcome> {
  if (!handler) return failed(new Error(`no handler for type ${JSON.stringify(lease.type)}`), "UnknownType");
  const context = new Context(lease, lazy, sinks);
  const outcome = await attempt(lease, handler, lazy, context, { sinks, children });
  const { lines } = context;
  return lines ? { ...outcome, log: lines } : outcome;
}

async function attempt(
  lease: Lease,
  handler: Handler,
  lazy: LazyAbort,
  context: Context,
  { sinks, children }: Runtime,
): Promise<Outcome> {
  const timeout_seconds = lease.timeout_seconds ?? handler.options.timeout_seconds;
  let timer: NodeJS.Timeout | undefined;
  const output = jobOutput((stream, line) => sinks.output(lease, stream, line));
  const run = () => output.of(() => handler.run(lease.payload, context));
  try {
    if (timeout_seconds === undefined && !isIsolated(handler)) return succeeded(handler, await run());
    const timeout = Promise.withResolvers<never>();
    const startClock = () => {
      if (timeout_seconds === undefined) return;
      timer = setTimeout(() => {
        const error = new DOMException(`the handler ran longer than ${timeout_seconds} s`, "TimeoutError");
        timeout.reject(error);
        abort(lazy, error);
      }, timeout_seconds * 1_000);
    };
    if (isIsolated(handler))
      return await Promise.race([runIsolated(children, handler, lease, context, sinks, startClock), timeout.promise]);
    const value = run();
    startClock();
    return succeeded(handler, await Promise.race([value, timeout.promise]));
  } catch (thrown) {
    return failed(thrown);
  } finally {
    clearTimeout(timer);
    output.end();
  }
}
