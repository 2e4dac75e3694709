import { outage_hold_ms, type Json, type TraceSpan } from "@atlasqueue/contract";
import { createHeldJobs, type Held, type Run } from "@atlasqueue/runtime";
import type { LeasedJob } from "../resources/leases.ts";

/** A job that this worker holds. */
export type HeldJob = Held & {
  readonly leased: LeasedJob;
  readonly run: Run;
  /** Of this attempt once it has begun, where attempts are traced. */
  span: TraceSpan | undefined;
  /** The handler's signal. */
  readonly stop: AbortController;
  /** Aborts as soon as the job is no longer ours. */
  readonly gone: AbortController;
  /** Under which its ack leases the next: a repeated ack has the same jobs. */
  next_token: string | undefined;
  /** Until when the lease holds for certain, on the clock of performance.now(). */
  ends_at_ms: number;
  /** Not sent yet. */
  progress: { value: Json } | undefined;
  /** Tells the lease keeper to look again. */
  wake: () => void;
};

const unsettled_max = 1_000;

/** The jobs a remote worker holds. */
export function heldJobs(concurrency: number) {
  const held = createHeldJobs<HeldJob>(concurrency, unsettled_max);
  const leave = (job: HeldJob): void => {
    if (!held.leave(job)) return;
    job.gone.abort();
    job.wake();
  };
  return {
    ...held,
    leave,
    add: (leased: LeasedJob, run: Run): HeldJob =>
      held.add({
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
      }),
    /** Take a job from its handler, whose outcome no longer counts. */
    abandon(job: HeldJob, reason: Error): void {
      leave(job);
      job.stop.abort(reason);
    },
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
