import { traceFields } from "@atlasqueue/contract";
import { leaseEvent, type Lease } from "@atlasqueue/core/internal/worker";
import type { Attempts } from "@atlasqueue/runtime";
import type { RunningJob } from "../consume/running-jobs.ts";
import type { Served } from "../consume/served.ts";
import type { WorkerDeps } from "../deps.ts";
import type { Handler } from "../handler.ts";
import type { Runtime } from "../isolate/run-isolated.ts";
import { runJob } from "./run-job.ts";

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
    traced: ({ lease }) => lease,
    isUnknown: ({ lease: { type, waited_seconds = 0 } }) =>
      !handlers.has(type) && waited_seconds < unknown_type_seconds,
    run: ({ lease, abort }) => runJob(lease, handlers.get(lease.type), abort, parts),
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
