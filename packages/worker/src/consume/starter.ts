import { traceFields } from "@atlasqueue/contract";
import { leaseEvent, type Lease, type LeaseReturns } from "@atlasqueue/core/internal/worker";
import { beginAttempt, endAttempt, shouldGoOn, traceReceived, type Run } from "@atlasqueue/runtime";
import type { WorkerDeps } from "../deps.ts";
import type { Handler } from "../handler.ts";
import type { Settler } from "../hold/settler.ts";
import type { Runtime } from "../isolate/run-isolated.ts";
import { runJob } from "../run/run-job.ts";
import type { RunningJob, RunningJobs } from "./running-jobs.ts";
import type { Served } from "./served.ts";
import { startJobs } from "./start-jobs.ts";

/** Start the handlers of jobs leased by one statement, which was sent at `asked_at`; `runs` are those they go on with. */
export type Starter = (leases: Lease[], asked_at: number, runs?: ReadonlyMap<Lease, Run>) => Promise<void>;

/** After as many jobs of a group one after another, others have their turn. */
const run_jobs_max = 100;

export type StarterParts = {
  deps: WorkerDeps;
  running: RunningJobs;
  settler: Settler;
  returns: Pick<LeaseReturns, "giveBack">;
  served: Pick<Served, "rest">;
  handlers: ReadonlyMap<string, Handler>;
  lease_seconds: number;
  /** For so long after it was first ready, a job whose type has no handler here goes back. */
  unknown_type_seconds: number;
} & Runtime;

/**
 * How jobs get to their handlers, and their outcomes to the settler. From `stop` on they go back instead, with no
 * attempt counted. So does a job whose type has no handler here, as another worker may have one.
 *
 * @example
 * const starter = createStarter(parts, draining.signal);
 * await starter(await claim(deps, ids, claimer), asked_at);
 */
export function createStarter(parts: StarterParts, stop: AbortSignal): Starter {
  const { deps, running, returns, lease_seconds } = parts;
  return async (leases, asked_at, runs) => {
    if (deps.tracing?.on()) traceReceived(deps.tracing, leases, Date.now() - (performance.now() - asked_at));
    running.claimed(leases);
    const [known, unknown] = byHandler(parts, leases);
    for (const lease of unknown) deps.observe(leaseEvent("job_type_unknown", lease));
    void returns.giveBack(unknown, { later: true });
    let started = 0;
    const startOne = (lease: Lease): void => {
      started += 1;
      void start(parts, running.add(lease, runs?.get(lease)));
    };
    try {
      await startJobs({ deps, returns, lease_seconds, start: startOne, stop }, known, asked_at);
    } finally {
      if (started < leases.length) running.notAllStarted(leases);
    }
  };
}

function byHandler({ handlers, unknown_type_seconds }: StarterParts, leases: Lease[]): [Lease[], Lease[]] {
  const isUnknown = ({ type, waited_seconds = 0 }: Lease) =>
    !handlers.has(type) && waited_seconds < unknown_type_seconds;
  // Hardly ever any.
  if (!leases.some(isUnknown)) return [leases, []];
  return [leases.filter((lease) => !isUnknown(lease)), leases.filter(isUnknown)];
}

async function start(parts: StarterParts, job: RunningJob): Promise<void> {
  const { deps, running, settler } = parts;
  const { lease, abort } = job;
  const span = (job.span = beginAttempt(deps.tracing, lease));
  const about = <Name extends string>(event: Name) =>
    span?.context ? { ...leaseEvent(event, lease), ...traceFields(span.context) } : leaseEvent(event, lease);
  deps.observe(about("handler_start"));
  const handler = parts.handlers.get(lease.type);
  const outcome = await (span
    ? span.active(() => runJob(lease, handler, abort, parts))
    : runJob(lease, handler, abort, parts));
  if (span) endAttempt(span, outcome);
  // Its end is told and counted when it was parked.
  if (outcome.kind === "parked") return;
  const duration_ms = performance.now() - job.began_at;
  if (outcome.kind === "succeeded") deps.observe({ ...about("handler_done"), duration_ms });
  else deps.observe({ ...about("handler_error"), duration_ms, error: outcome.error });
  if (!running.holds(job)) return;
  if (outcome.kind === "not_started") return giveBack(parts, job);
  job.ran_ms = duration_ms;
  // The next of its group may take its slot: others wait behind it, and its queue has no limits.
  const goes_on = lease.followed === true && !lease.limited && shouldGoOn(job.run, outcome, run_jobs_max);
  running.handlerEnded(job, goes_on);
  settler.settle(job, outcome);
}

/** No handler has seen it. Its queue rests, or it would be back here at once, before a worker that has room sees it. */
function giveBack({ children, running, returns, served }: StarterParts, job: RunningJob): void {
  running.leave(job);
  // One that could be started meanwhile has ended all rests.
  if (children.startsFail()) served.rest(job.lease.queue);
  void returns.giveBack([job.lease]);
}
