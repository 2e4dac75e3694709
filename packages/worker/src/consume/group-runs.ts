import type { Lease, TakeNext } from "@atlasqueue/core/internal/worker";
import type { Outcome } from "../run/run-job.ts";

/** Jobs of one group that a worker runs one after another, without a claim in between. */
export type Run = { jobs: number; began_at: number };

/** How a worker goes on with the groups of its jobs. */
export type GoingOn = {
  claimer: Omit<TakeNext, "after">;
  /** From then on it takes no jobs. */
  stop: AbortSignal;
  /** Start what was taken by a settlement sent at `asked_at`, in the same turn. */
  start(next: ReadonlyMap<Lease, Run>, asked_at: number): void;
};

/** After as many jobs, or as long, the group goes to the end of the line: others have their turn. */
const run_jobs_max = 100;
const run_ms_max = 1_000;

export const newRun = (): Run => ({ jobs: 1, began_at: performance.now() });

/**
 * Whether the settlement of a job should take the next of its group for the same slot: others wait behind it, it
 * succeeded and adds no jobs, its queue has no limits, and the run has not been too long. A failed one holds its group
 * until it is tried again.
 */
export function shouldGoOn({ followed, limited }: Lease, { jobs, began_at }: Run, outcome: Outcome): boolean {
  if (!followed || limited || outcome.kind !== "succeeded" || outcome.spawned) return false;
  return jobs < run_jobs_max && performance.now() - began_at < run_ms_max;
}

/** The run of the job that comes next in one. */
export const nextOf = ({ jobs, began_at }: Run): Run => ({ jobs: jobs + 1, began_at });
