import { spawnErrorOf, type Fault, type Json, type LogLine, type SpawnedJobs } from "@atlasqueue/contract";
import { childrenFaults, flowOf, refusalFaults } from "@atlasqueue/core/internal";
import { completeWithChildren, type SpawnOutcome, type SweepDeps } from "@atlasqueue/core/internal/worker";
import type { RunningJob } from "../consume/running-jobs.ts";

/** What a handler that succeeded left to be stored. */
export type Success = {
  job: RunningJob;
  result: Json;
  log?: LogLine[] | undefined;
  spawned?: SpawnedJobs | undefined;
};

/**
 * Settle a job together with the jobs that its handler added. `unfit`: they cannot be stored, and the job is not settled
 * yet.
 */
export async function addChildren(
  deps: SweepDeps,
  { job, result, log, spawned }: Success,
): Promise<Exclude<SpawnOutcome, { kind: "refused" }> | ReturnType<typeof unfit>> {
  const { lease } = job;
  const by = { tenant: lease.tenant, trace: traceOf(job) };
  const children = flowOf({ jobs: spawned?.children ?? [] }, by).jobs;
  const faults = childrenFaults(children);
  if (faults.length > 0) return unfit(faults);
  const { dependants_wait = false } = spawned ?? {};
  const outcome = await completeWithChildren(deps, { lease, result, log }, { children, dependants_wait });
  return outcome.kind === "refused" ? unfit(refusalFaults(outcome.refusal, (at) => `/children/${at}`)) : outcome;
}

const unfit = (faults: readonly Fault[]) => {
  const { name, message } = spawnErrorOf(faults);
  return { kind: "unfit" as const, error: `${name}: ${message}` };
};

/** The attempt that adds them, if it is traced, otherwise what its job belongs to. */
function traceOf({ span, lease: { traceparent, tracestate } }: RunningJob) {
  return span?.context ?? (traceparent ? { traceparent, tracestate: tracestate ?? null } : undefined);
}
