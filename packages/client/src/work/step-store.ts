import { ParkedError, type StepStore } from "@atlasqueue/contract";
import type { StepCalls } from "../resources/steps.ts";
import { isLost } from "./answers.ts";
import type { Observe } from "./events.ts";
import type { HeldJob, HeldJobs } from "./held-jobs.ts";
import { patiently } from "./patiently.ts";

type Parts = { calls: Pick<StepCalls, "steps" | "storeStep" | "park">; held: HeldJobs; observe: Observe };

/**
 * Where a remote handler keeps its steps: the API. While that is away it is asked again, for as long as the job is held.
 * What has come with the lease is not asked for.
 */
export function remoteSteps({ calls, held, observe }: Parts, job: HeldJob): StepStore {
  const { leased } = job;

  const whileHeld = <T>(ask: () => Promise<T>): Promise<T> =>
    patiently({ observe }, job, "steps", ask).catch((error: unknown) => {
      if (isLost(error)) {
        if (held.holds(job)) observe({ event: "lease_lost", job: leased.job, during: "handling" });
        held.abandon(job, error);
      }
      throw error;
    });

  return {
    async load() {
      if (leased.steps_complete) return new Map(Object.entries(leased.steps));
      const { steps } = await whileHeld(() => calls.steps(leased.job.id, { retries: 0 }));
      return new Map(steps.map(({ name, result }) => [name, result]));
    },
    store: (name, result) => whileHeld(() => calls.storeStep(leased, name, result, { retries: 0 })),
    async park(signal, timeout_seconds) {
      const answer = await whileHeld(() => calls.park(leased, signal, timeout_seconds, { retries: 0 }));
      switch (answer.outcome) {
        case "parked":
          held.abandon(job, new ParkedError(signal));
          observe({ event: "job_parked", job: leased.job, waits_for: signal, until: answer.until });
          return "parked";
        case "signalled":
          return { timed_out: false, payload: answer.payload };
        case "timed_out":
          return { timed_out: true };
        default:
          return answer satisfies never;
      }
    },
  };
}
