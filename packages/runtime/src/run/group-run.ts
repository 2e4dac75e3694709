/** Jobs of one ordered group that run one after another in one slot, each leased by the settlement of the one before it. */
export type Run = { jobs: number; began_at: number };

/** After this long, the group goes to the end of the line: others have their turn. */
const run_ms_max = 1_000;

export const newRun = (): Run => ({ jobs: 1, began_at: performance.now() });

/** The run of the job that comes next in one. */
export const nextOf = ({ jobs, began_at }: Run): Run => ({ jobs: jobs + 1, began_at });

/**
 * Whether the settlement of a job should lease the next of its group for the same slot: it succeeded and adds no jobs, and
 * the run has not been too long. A failed one holds its group until it is tried again.
 */
export function shouldGoOn(
  { jobs, began_at }: Run,
  outcome: { kind: string; spawned?: unknown },
  jobs_max: number,
): boolean {
  if (outcome.kind !== "succeeded" || outcome.spawned) return false;
  return jobs < jobs_max && performance.now() - began_at < run_ms_max;
}
