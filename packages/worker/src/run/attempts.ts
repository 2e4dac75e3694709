import { throughAll, traceFields } from "@atlasqueue/contract";
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
import { handlerFor, isIsolated, keptResult, type Handler, type HandlerMiddleware } from "../handler.ts";
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
  middleware: readonly HandlerMiddleware[];
  jobEnded: () => void;
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
      const duration_ms = (job.ran_ms = Math.round((performance.now() - (job.began_at_ms ?? 0)) * 1_000) / 1_000);
      parts.jobEnded();
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
async function runJob(lease: Lease, handler: Handler | undefined, lazy: LazyAbort, parts: Parts): Promise<Outcome> {
  if (!handler) return unknownType(lease.type);
  const { sinks, middleware } = parts;
  const context = new Context(lease, lazy, sinks);
  const output = jobOutput((stream, line) => sinks.output(lease, stream, line));
  const inside = (run: () => Promise<unknown>): Promise<unknown> =>
    middleware.length === 0 ? run() : throughAll(middleware, callOf(lease, context), run);
  const timeout_seconds = lease.timeout_seconds ?? handler.options.timeoutSeconds;
  const outcome = await runAttempt<Outcome>(
    { timeout_seconds, abort: (reason) => abort(lazy, reason) },
    async (startClock) => {
      if (isIsolated(handler))
        return aroundProcess(handler, inside, () =>
          runIsolated(parts, handler, { lease, lazy, context, started: startClock }).catch(notStarted),
        );
      const value = output.of(() => inside(() => handler.run(lease.payload, context)));
      startClock();
      return succeeded(keptResult(handler, await value), context.spawned);
    },
  );
  output.end();
  const { lines } = context;
  return lines && outcome.kind !== "not_started" ? { ...outcome, log: lines } : outcome;
}

/** What middleware gets. */
const callOf = ({ payload, type, queue, attempts: attempt }: Lease, context: Context) => ({
  job: context.job,
  type,
  queue,
  attempt,
  payload,
  get signal() {
    return context.signal;
  },
});

/** The outcome of a handler's process, unless a middleware makes another one of its result or its error. */
async function aroundProcess(
  handler: Handler,
  inside: (run: () => Promise<unknown>) => Promise<unknown>,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  let outcome: Outcome | undefined;
  const failure = new Error();
  const returned = await inside(async () => {
    outcome = await run();
    if (outcome.kind === "succeeded") return outcome.result;
    throw Object.assign(failure, { message: outcome.error });
  }).catch((thrown: unknown) => {
    if (thrown === failure || outcome?.kind === "not_started") return failure;
    throw thrown;
  });
  const said = outcome as Outcome | undefined;
  const result = said?.kind === "succeeded" ? said.result : failure;
  if (said && (returned === result || said.kind === "not_started")) return said;
  return succeeded(keptResult(handler, returned), said?.kind === "succeeded" ? said.spawned : undefined);
}

function notStarted(thrown: unknown): Outcome {
  if (thrown instanceof NotStartedError) return { kind: "not_started", error: String(thrown) };
  throw thrown;
}
