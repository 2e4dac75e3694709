import { outage_hold_ms, type Json, type TraceSpan } from "@atlasqueue/contract";
import type { LeasedJob } from "../resources/leases.ts";
import type { Run } from "./runs.ts";

/** A job that this worker holds. `settling` once its outcome is known. */
export type HeldJob = {
  readonly leased: LeasedJob;
  readonly run: Run;
  /** Of this attempt once it has begun, where attempts are traced. */
  span: TraceSpan | undefined;
  /** The handler's signal. */
  readonly stop: AbortController;
  /** Aborts as soon as the job is no longer ours. */
  readonly gone: AbortController;
  phase: "handling" | "settling";
  /** Its ack leases the next of its group, which gets its slot. */
  goes_on: boolean;
  /** Under which its ack leases the next: a repeated ack has the same jobs. */
  next_token: string | undefined;
  /** Until when the lease holds for certain, on the clock of performance.now(). */
  ends_at_ms: number;
  /** Not sent yet. */
  progress: { value: Json } | undefined;
  /** Tells the lease keeper to look again. */
  wake: () => void;
};

/** How many outcomes may wait for the API besides the running handlers; beyond that, leasing stops. */
const unsettled_max = 1_000;

/**
 * The jobs a worker holds, and its free slots. A slot is free again when its handler ends or its lease is lost, or, if
 * its group goes on, when it is settled.
 */
export function heldJobs(concurrency: number) {
  const jobs = new Set<HeldJob>();
  let waiting: (() => void)[] = [];
  const handling = () => [...jobs].filter(({ phase, goes_on }) => phase === "handling" || goes_on).length;
  const tell = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const leave = (job: HeldJob): void => {
    if (!jobs.delete(job)) return;
    job.gone.abort();
    job.wake();
    tell();
  };
  return {
    add(leased: LeasedJob, run: Run): HeldJob {
      const job: HeldJob = {
        leased,
        run,
        span: undefined,
        stop: new AbortController(),
        gone: new AbortController(),
        phase: "handling",
        goes_on: false,
        next_token: undefined,
        ends_at_ms: leased.ends_at_ms,
        progress: undefined,
        wake: () => {},
      };
      jobs.add(job);
      return job;
    },
    /** True while the job is ours, so that its outcome counts. */
    holds: (job: HeldJob) => jobs.has(job),
    handlerEnded(job: HeldJob, goes_on = false): void {
      job.phase = "settling";
      job.goes_on = goes_on;
      tell();
    },
    /** No longer ours: settled, lost or given up. */
    leave,
    /** Take a job from its handler, whose outcome no longer counts. */
    abandon(job: HeldJob, reason: Error): void {
      leave(job);
      job.stop.abort(reason);
    },
    all: () => [...jobs],
    handling,
    size: () => jobs.size,
    free: () => Math.max(0, Math.min(concurrency - handling(), concurrency + unsettled_max - jobs.size)),
    /** Ends the waits for a change. */
    tell,
    /** Resolves at the next change of the above. */
    change: () => new Promise<void>((resolve) => waiting.push(resolve)),
  };
}
export type HeldJobs = ReturnType<typeof heldJobs>;

/**
 * The API says that its database is away: that holds these jobs for a while, as a renewal would, even beyond the end of
 * their leases. When the API falls silent, that time runs out.
 */
export function holdOn(jobs: readonly HeldJob[]): void {
  const until_ms = performance.now() + outage_hold_ms;
  for (const job of jobs) job.ends_at_ms = Math.max(job.ends_at_ms, until_ms);
}
