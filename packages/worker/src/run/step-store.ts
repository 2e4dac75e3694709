import { ParkedError, showValue, StepError, type StepStore } from "@atlasqueue/contract";
import { aboutLease, findJobSteps, park, storeStep, type FollowUps, type Lease } from "@atlasqueue/core/internal";
import type { RunningJobs } from "../consume/running-jobs.ts";
import type { WorkerDeps } from "../deps.ts";
import { abort, type LazyAbort } from "./lazy-abort.ts";
import { patiently } from "./patiently.ts";

type Parts = { deps: WorkerDeps; running: RunningJobs; followUps: Pick<FollowUps, "parked"> };

/**
 * Where handlers keep their steps: the database. While that is away they wait for it, for as long as their job is held:
 * what was done must not be done again only since it could not be stored.
 */
export function createStepStores({ deps, running, followUps }: Parts) {
  const lost = (lease: Lease, lazy: LazyAbort): never => {
    const job = running.of(lease);
    if (job) {
      deps.observe({ event: "lease_lost", during: "step", ...aboutLease(lease) });
      running.abandon(job, "the lease was lost");
    }
    throw lazy.reason ?? new Error("the lease was lost");
  };

  return (lease: Lease, lazy: LazyAbort): StepStore => {
    const ask = <T>(question: () => Promise<T>): Promise<T> => patiently(deps, "steps", lazy, question);
    return {
      async load() {
        const found = await ask(() => findJobSteps(deps, lease.tenant, lease.id));
        return new Map(found?.steps.map(({ name, result }) => [name, result]));
      },
      async store(name, result) {
        const outcome = await ask(() => storeStep(deps, lease, name, result));
        switch (outcome.kind) {
          case "stored":
            return outcome.result;
          case "full":
            throw new StepError(`there is no room for the step ${showValue(name)}: the job has as many as it may have`);
          case "lease_lost":
          case "unknown":
            return lost(lease, lazy);
          default:
            return outcome satisfies never;
        }
      },
      async park(signal, timeout_seconds) {
        const outcome = await ask(() => park(deps, lease, signal, timeout_seconds));
        switch (outcome.kind) {
          case "parked": {
            const job = running.of(lease);
            if (job) running.settled(job);
            abort(lazy, new ParkedError(signal));
            followUps.parked(lease, outcome.until);
            return "parked";
          }
          case "signalled":
            return { timed_out: false, payload: outcome.payload };
          case "timed_out":
            return { timed_out: true };
          case "full":
            throw new StepError(
              `the job cannot wait for ${showValue(signal)}: it has waited for as many signals as it may`,
            );
          case "lease_lost":
          case "unknown":
            return lost(lease, lazy);
          default:
            return outcome satisfies never;
        }
      },
    };
  };
}
