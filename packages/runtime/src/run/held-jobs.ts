/** How far a job is that a worker holds. */
export type Held = {
  /** `settling` once its outcome is known, `gone` when it is no longer held. */
  phase: "handling" | "settling" | "gone";
  /** Its settlement is to lease the next job of its group: it keeps its slot for that one. */
  goes_on: boolean;
};

/**
 * The jobs a worker holds, and its free slots. A slot is free again when its handler ends or its lease is lost, or, if its
 * group goes on, when it is settled. At most `unsettled_max` outcomes wait besides the running handlers: beyond that, nothing
 * more is leased.
 *
 * @example
 * const held = createHeldJobs<MyJob>(10, 1_000);
 * held.add(job);
 */
export function createHeldJobs<Job extends Held>(concurrency: number, unsettled_max: number) {
  const jobs = new Set<Job>();
  let handling = 0;
  let waiting: (() => void)[] = [];

  /** Ends the waits for a change. */
  const tell = (): void => {
    if (waiting.length === 0) return;
    const told = waiting;
    waiting = [];
    for (const resolve of told) resolve();
  };
  return {
    add(job: Job): Job {
      jobs.add(job);
      handling += 1;
      return job;
    },
    /** True while the job is ours, so that its outcome counts. */
    holds: (job: Job) => job.phase !== "gone",
    handlerEnded(job: Job, goes_on = false): void {
      if (job.phase === "handling" && !goes_on) handling -= 1;
      job.goes_on = goes_on;
      job.phase = "settling";
      tell();
    },
    /** It leaves its slot to others. */
    endRun(job: Job): void {
      if (!job.goes_on || job.phase === "gone") return;
      job.goes_on = false;
      handling -= 1;
      tell();
    },
    /** No longer ours: settled, lost or given up. False if it was not any more. */
    leave(job: Job): boolean {
      if (job.phase === "gone") return false;
      jobs.delete(job);
      if (job.phase === "handling" || job.goes_on) handling -= 1;
      job.phase = "gone";
      tell();
      return true;
    },
    all: () => [...jobs],
    handling: () => handling,
    size: () => jobs.size,
    free: () => Math.max(0, Math.min(concurrency - handling, concurrency + unsettled_max - jobs.size)),
    tell,
    /** Resolves at the next change of the above. */
    change: () => new Promise<void>((resolve) => waiting.push(resolve)),
  };
}
