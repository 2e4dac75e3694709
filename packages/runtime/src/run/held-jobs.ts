import type { TraceSpan } from "@atlasqueue/contract";
import type { TracedJob } from "../attempt/traces.ts";
import { newRun, type Run } from "./group-run.ts";
import { abort, lazyAbort, type LazyAbort } from "./lazy-abort.ts";

/** A job that a worker holds. Times are on the clock of `performance.now()`. */
export type Held = {
  /** `handling` until its outcome is known, and before its handler has begun; `gone` when it is no longer held. */
  phase: "handling" | "settling" | "gone";
  /** When its handler was called. */
  began_at_ms: number | undefined;
  /** Its settlement is to lease the next job of its group: it keeps its slot for that one. */
  goes_on: boolean;
  readonly run: Run;
  readonly traced: TracedJob;
  /** Of this attempt once it has begun, if attempts are traced. */
  span: TraceSpan | undefined;
  /** Of the handler's signal. */
  readonly abort: LazyAbort;
  /** Until when the lease holds for certain. */
  ends_at_ms: number;
  /** When the lease is to be renewed; Infinity while a renewal is under way. */
  renew_at_ms: number;
  renewals: number;
};

type Leased = Pick<Held, "traced" | "ends_at_ms" | "renew_at_ms">;

export const heldJob = ({ traced, ends_at_ms, renew_at_ms }: Leased, run: Run = newRun()): Held => ({
  phase: "handling",
  began_at_ms: undefined,
  goes_on: false,
  run,
  traced,
  span: undefined,
  abort: lazyAbort(),
  ends_at_ms,
  renew_at_ms,
  renewals: 0,
});

/**
 * The jobs a worker holds, and its free slots. A slot is free again when its handler ends or its lease is lost, or, if its
 * group goes on, when it is settled. At most `unsettled_max` outcomes wait besides the running handlers: beyond that, nothing
 * more is leased. `left` hears of each that is no longer held, `slots` of each slot that a job takes (1) or leaves (-1).
 */
export function createHeldJobs<Job extends Held>(
  concurrency: number,
  unsettled_max: number,
  left: (job: Job) => void,
  slots: (job: Job, by: 1 | -1) => void = () => {},
) {
  const jobs = new Set<Job>();
  let handling = 0;
  let waiting: (() => void)[] = [];

  const use = (job: Job, by: 1 | -1): void => {
    handling += by;
    slots(job, by);
  };
  /** Ends the waits for a change. */
  const tell = (): void => {
    if (waiting.length === 0) return;
    const told = waiting;
    waiting = [];
    for (const resolve of told) resolve();
  };
  /** No longer ours: settled, lost or given up. False if it was not any more. */
  const leave = (job: Job): boolean => {
    if (job.phase === "gone") return false;
    jobs.delete(job);
    if (job.phase === "handling" || job.goes_on) use(job, -1);
    job.phase = "gone";
    left(job);
    tell();
    return true;
  };
  return {
    add(job: Job): Job {
      jobs.add(job);
      use(job, 1);
      return job;
    },
    /** True while the job is ours, so that its outcome counts. */
    holds: (job: Job) => job.phase !== "gone",
    handlerEnded(job: Job, goes_on = false): void {
      if (job.phase === "gone") return;
      if (job.phase === "handling" && !goes_on) use(job, -1);
      job.goes_on = goes_on;
      job.phase = "settling";
      tell();
    },
    /** It leaves its slot to others. */
    endRun(job: Job): void {
      if (!job.goes_on || job.phase === "gone") return;
      job.goes_on = false;
      use(job, -1);
      tell();
    },
    leave,
    /** Take a job from its handler, whose outcome no longer counts. */
    abandon(job: Job, reason: Error): void {
      leave(job);
      abort(job.abort, reason);
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
export type HeldJobs<Job extends Held> = ReturnType<typeof createHeldJobs<Job>>;
