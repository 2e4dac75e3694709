import { limits, spawnErrorOf, type Fault, type Json, type LogLine, type SpawnedJobs } from "@atlasqueue/contract";
import { childrenFaults, flowOf, unknownParent, type SpawnRefusal } from "@atlasqueue/core/internal";
import { completeWithChildren, type SpawnOutcome } from "@atlasqueue/core/internal/worker";
import type { RunningJob } from "../consume/running-jobs.ts";
import type { MovingDeps } from "../deps.ts";

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
  deps: MovingDeps,
  { job, result, log, spawned }: Success,
): Promise<Exclude<SpawnOutcome, { kind: "refused" }> | ReturnType<typeof unfit>> {
  const { lease } = job;
  const by = { tenant: lease.tenant, trace: traceOf(job) };
  const children = flowOf({ jobs: spawned?.children ?? [] }, by).jobs;
  const faults = childrenFaults(children);
  if (faults.length > 0) return unfit(faults);
  const { dependants_wait = false } = spawned ?? {};
  const outcome = await completeWithChildren(deps, { lease, result, log }, { children, dependants_wait });
  return outcome.kind === "refused" ? unfit(faultsOf(outcome.refusal)) : outcome;
}

const unfit = (faults: readonly Fault[]) => {
  const { name, message } = spawnErrorOf(faults);
  return { kind: "unfit" as const, error: `${name}: ${message}` };
};

/** The attempt that adds them, if it is traced, otherwise what its job belongs to. */
function traceOf({ span, lease: { traceparent, tracestate } }: RunningJob) {
  return span?.context ?? (traceparent ? { traceparent, tracestate: tracestate ?? null } : undefined);
}

function faultsOf(refusal: SpawnRefusal): Fault[] {
  switch (refusal.kind) {
    case "conflict":
      return refusal.places.map(({ at, job_id }) => {
        return { pointer: `/children/${at}/unique`, message: `is held by the job ${job_id}` };
      });
    case "unknown_parents":
      return refusal.places.map(({ at, nth, id }) => {
        return { pointer: `/children/${at}/depends_on/${nth}`, message: unknownParent(id) };
      });
    case "too_many_waits":
      return [
        { pointer: "/dependants_wait", message: `would make jobs wait for more than ${limits.flow_edges_max} jobs` },
      ];
    case "circle": {
      const message = `would make the job ${refusal.dependant} wait for children that wait for it`;
      return [{ pointer: "/dependants_wait", message }];
    }
    case "too_many_to_tell": {
      const message = "cannot be set, as the children wait for too many jobs to tell whether there is a circle";
      return [{ pointer: "/dependants_wait", message }];
    }
    case "mismatch":
      throw new Error("children have no idempotency keys");
    default:
      return refusal satisfies never;
  }
}
