import { traceFields } from "@atlasqueue/contract";
import { leaseEvent, type Lease } from "@atlasqueue/core/internal/worker";
import {
  abort,
  runAttempt,
  succeeded,
  unknownType,
  type Attempts,
  type LazyAbort,
  type Outcome,
} from "@atlasqueue/runtime";
import type { RunningJob } from "../consume/running-jobs.ts";
import type { Served } from "../consume/served.ts";
import type { WorkerDeps } from "../deps.ts";
import { handlerFor, isIsolated, keptResult, type Handler } from "../handler.ts";
import { NotStartedError } from "../isolate/child-process.ts";
import { runIsolated, type Runtime } from "../isolate/run-isolated.ts";
import { jobOutput } from "../output/job-output.ts";
import { Context } from "./context.ts";

type Parts = Runtime & {
  deps: WorkerDeps;
  served: Pick<Served, "rest">;
  handlers: ReadonlyMap<string, Handler>;
  /** For so long after it was first ready, a job whose type has no handler here goes back. */
  unknown_type_seconds: number;
};

/** After as many jobs of a group one after another, others have their turn. */
const run_jobs_max = 100;

/** How a worker handles its jobs, and what it reports of that. */
export function createAttempts(parts: Parts): Attempts<RunningJob> {
  const { deps, served, handlers, unknown_type_seconds, children } = parts;
  const about = <Name extends string>(event: Name, { lease, span }: RunningJob) =>
    span?.context ? { ...leaseEvent(event, lease), ...traceFields(span.context) } : leaseEvent(event, lease);
  return {
    isUnknown: ({ lease: { type, waited_seconds = 0 } }) =>
      !handlerFor(handlers, type) && waited_seconds < unknown_type_seconds,
    run: ({ lease, abort: lazy }) => runJob(lease, handlerFor(handlers, lease.type), lazy, parts),
    // Others wait behind it, and its queue has no limits.
    mayGoOn: ({ lease }: { lease: Lease }) => lease.followed === true && !lease.limited,
    run_jobs_max,
    hear: (event, job) => deps.observe(about(event, job)),
    ended(job, outcome) {
      const duration_ms = (job.ran_ms = performance.now() - (job.began_at_ms ?? 0));
      if (outcome.kind === "succeeded") deps.observe({ ...about("handler_done", job), duration_ms });
      else deps.observe({ ...about("handler_error", job), duration_ms, error: outcome.error });
      // Its queue rests, or the job would be back here at once, before a worker that has room sees it. If a process could be
      // started meanwhile, that has ended all rests.
      if (outcome.kind === "not_started" && children.startsFail()) served.rest(job.lease.queue);
    },
  };
}

/**
 * Run one job to its outcome. Never rejects: an unknown type, a payload that does not fit, a result that cannot be
 * stored, a timeout and anything thrown fail that job alone. Aborting `lazy` aborts the handler's signal. A job for which no
 * process could be started has not begun.
 */
async function runJob(lease: Lease, handler: Handler | undefined, lazy: LazyAbort, runtime: Runtime): Promise<Outcome> {
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
