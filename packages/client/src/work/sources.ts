import { createParents, createSteps, type Parents, type Steps } from "@atlasqueue/contract";
import { signalOf, sourcesOf } from "@atlasqueue/runtime";
import { isFinal, isForbidden, isLost, isRefusal } from "./answers.ts";
import type { HeldJob } from "./held-jobs.ts";
import type { WorkerParts } from "./parts.ts";

/**
 * A handler's steps and parents: those that came with the lease, and the API for the rest. While that is away it is asked
 * again, for as long as the job is held.
 */
export function remoteSources({ calls, held, observe }: WorkerParts, mine: HeldJob): Steps & Parents {
  const { leased } = mine;
  const signal = signalOf(mine.abort);
  const { job, parents, parent_counts, parents_complete = false } = leased;
  const call = { signal, retries: 0 };
  const asked = sourcesOf({
    calls: {
      steps: async () => {
        const { steps } = await calls.steps(job.id, call);
        return new Map(steps.map(({ name, result }) => [name, result]));
      },
      storeStep: (name, result) => calls.storeStep(leased, name, result, { retries: 0 }),
      park: (name, timeout_seconds) => calls.park(leased, name, timeout_seconds, { retries: 0 }),
      firstParents: async () => parents && parent_counts && { parents, parent_counts, parents_complete },
      parentPage: (cursor) => calls.parents(job.id, cursor === undefined ? {} : { cursor }, call),
    },
    check: () => signal.throwIfAborted(),
    signal,
    judge: mayPass,
    failed: (during, error) => observe({ event: "api_unavailable", during, error }),
    isLost,
    lost(error) {
      if (held.holds(mine)) observe({ event: "lease_lost", job, during: "handling" });
      held.abandon(mine, error as Error);
    },
    parked(reason, waits_for, until) {
      held.abandon(mine, reason);
      observe({ event: "job_parked", job, waits_for, until });
    },
  });
  const came = leased.steps_complete ? new Map(Object.entries(leased.steps)) : undefined;
  const steps = came ? { ...asked.steps, load: async () => came } : asked.steps;
  return { ...createSteps(steps), ...createParents(asked.parents) };
}

/** A refusal that is not the API's own may pass. */
function mayPass(): (error: unknown) => boolean {
  let refusals = 0;
  return (error) => {
    if (isLost(error)) return false;
    refusals = isRefusal(error) || isForbidden(error) ? refusals + 1 : 0;
    return refusals === 0 || !isFinal(error, refusals);
  };
}
