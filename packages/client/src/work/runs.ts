import type { LeasedJob } from "../resources/leases.ts";
import type { Ending } from "@atlasqueue/runtime";

/** Jobs of one group that run one after another in one slot, each leased as the one before it is acked. */
export type Run = { jobs: number; began_at: number };

type InRun = { readonly leased: LeasedJob; readonly run: Run };

/** After this long, the group goes to the end of the line: others have their turn. */
const run_ms_max = 1_000;

export const newRun = (): Run => ({ jobs: 1, began_at: performance.now() });

/**
 * Whether the ack of a job should lease the next of its group: it succeeded and adds no jobs, and the run has not been
 * too long. A failed one holds its group until it is tried again.
 */
export function shouldGoOn({ leased, run }: InRun, outcome: Ending, run_max: number): boolean {
  if (leased.job.group === null || outcome.kind !== "succeeded" || outcome.spawned) return false;
  return run.jobs < run_max && performance.now() - run.began_at < run_ms_max;
}

/** The run that a job belongs to which was leased as these were acked. */
export function runOf({ job }: LeasedJob, acked: readonly InRun[]): Run {
  const before = acked.find(({ leased }) => leased.job.group === job.group && leased.job.queue === job.queue);
  return before ? { ...before.run, jobs: before.run.jobs + 1 } : newRun();
}
