import { limits, showValue, StepError } from "@atlasqueue/contract";
import { DatabaseTimeoutError, isUnavailable } from "@atlasqueue/core";
import { isLocked, parentsOf, parentsPage, park, storeStep, type FollowUps } from "@atlasqueue/core/internal";
import { aboutLease, findJobSteps, type Lease } from "@atlasqueue/core/internal/worker";
import { abort, sourcesOf, type LazyAbort, type Sources } from "@atlasqueue/runtime";
import { leaseLost, type RunningJobs } from "../consume/running-jobs.ts";
import type { WorkerDeps } from "../deps.ts";

type Parts = { deps: WorkerDeps; running: RunningJobs; followUps: Pick<FollowUps, "parked"> };

/** Rejected with where the database says that the job is not held any more. */
class LostError extends Error {
  override readonly name = "LostError";
  constructor() {
    super("the lease was lost");
  }
}

/**
 * Where handlers keep their steps, and ask for the parents of their jobs: the database. While that is away they wait for it,
 * for as long as their job is held: a step that was done must not be done again only since it could not be stored.
 */
export function createSources({ deps, running, followUps }: Parts) {
  return (lease: Lease, lazy: LazyAbort): Sources => {
    const { tenant, id, flow_id = null } = lease;
    return sourcesOf({
      calls: {
        async steps() {
          const found = await findJobSteps(deps, tenant, id);
          return new Map(found?.steps.map(({ name, result }) => [name, result]));
        },
        async storeStep(name, result) {
          const outcome = await storeStep(deps, lease, name, result);
          if (outcome.kind === "stored") return outcome.result;
          if (outcome.kind !== "full") throw new LostError();
          throw new StepError(`there is no room for the step ${showValue(name)}: the job has as many as it may have`);
        },
        async park(signal, timeout_seconds) {
          const outcome = await park(deps, lease, signal, timeout_seconds);
          switch (outcome.kind) {
            case "parked":
              return { outcome: "parked", until: outcome.until.toISOString() };
            case "signalled":
              return { outcome: "signalled", payload: outcome.payload };
            case "timed_out":
              return { outcome: "timed_out" };
            case "full":
              throw new StepError(
                `the job cannot wait for ${showValue(signal)}: it has waited for as many signals as it may`,
              );
            case "lease_lost":
            case "unknown":
              throw new LostError();
            default:
              return outcome satisfies never;
          }
        },
        firstParents: async () => (await parentsOf(deps, tenant, [{ id, flow_id }])).get(id),
        async parentPage(cursor) {
          const { items, next } = await parentsPage(deps, tenant, id, Number(cursor ?? 0), limits.parents_listed_max);
          return { items, next_cursor: next === undefined ? null : String(next) };
        },
      },
      check() {
        if (lazy.reason) throw lazy.reason;
      },
      judge: () => judgeOf(deps.database.pulse),
      failed(during, error) {
        if (!isLocked(error)) deps.observe({ event: "database_unavailable", during, error: String(error) });
      },
      isLost: (error) => error instanceof LostError,
      lost() {
        const job = running.of(lease);
        if (!job) return;
        deps.observe({ event: "lease_lost", during: "step", ...aboutLease(lease) });
        running.abandon(job, leaseLost());
      },
      parked(reason, _signal, until) {
        const job = running.of(lease);
        if (job) running.settled(job);
        abort(lazy, reason);
        followUps.parked(lease, new Date(until));
      },
    });
  };
}

/** So often in a row a question may be late while the database answers others: it never will be answered. */
const slow_max = 3;

/**
 * Whether to ask the database again: it is away, or has the job locked for another. It is not away while it answers others.
 */
export function judgeOf(pulse: { answered_at: number }): (error: unknown, asked_at: number) => boolean {
  let slow = 0;
  return (error, asked_at) => {
    // One that is only `not_applied` waited for a connection, or a lock.
    const was_sent = error instanceof DatabaseTimeoutError && error.outcome === "unknown";
    slow = was_sent && pulse.answered_at > asked_at ? slow + 1 : 0;
    return isUnavailable(error) && slow < slow_max;
  };
}
