import { outage_hold_ms, type Json } from "@atlasqueue/contract";
import { createHeldJobs, heldJob, type Held, type Run } from "@atlasqueue/runtime";
import type { LeasedJob } from "../resources/leases.ts";

/** A job that this worker holds. */
export type HeldJob = Held & {
  readonly leased: LeasedJob;
  /** Aborts as soon as the job is no longer ours. */
  readonly gone: AbortController;
  /** Under which its ack leases the next: a repeated ack has the same jobs. */
  next_token: string | undefined;
  /** When its lease is to be renewed, if there is no progress before. */
  due_at_ms: number;
  /** Renewals that failed, in a row. */
  failures: number;
  /** Not sent yet. */
  progress: { value: Json } | undefined;
  /** Before this no progress is sent. */
  progress_at_ms: number;
};

const unsettled_max = 1_000;

/** The jobs a remote worker holds. */
export function heldJobs(concurrency: number, lease_ms: number) {
  const held = createHeldJobs<HeldJob>(concurrency, unsettled_max, ({ gone }) => gone.abort());
  return {
    ...held,
    add(leased: LeasedJob, run?: Run): HeldJob {
      const { ends_at_ms, job } = leased;
      const traced = { ...job, delayed: job.run_at !== job.created_at };
      const due_at_ms = ends_at_ms - lease_ms + renewInMs(lease_ms);
      return held.add({
        ...heldJob({ traced, ends_at_ms, renew_at_ms: due_at_ms }, run),
        leased,
        gone: new AbortController(),
        next_token: undefined,
        due_at_ms,
        failures: 0,
        progress: undefined,
        progress_at_ms: -Infinity,
      });
    },
  };
}
export type HeldJobs = ReturnType<typeof heldJobs>;

/**
 * When to renew a lease that has just begun: after a third of it at most, and not at the same moment as all others that were
 * leased with it, or an API would have the renewals of thousands of jobs at once, over and over.
 */
export const renewInMs = (lease_ms: number): number => (lease_ms * (3 + Math.random())) / 12;

/**
 * The API says that its database is down: that holds these jobs for a while, as a renewal would, even beyond the end of
 * their leases. When the API falls silent, that time runs out.
 */
export function holdOn(jobs: readonly HeldJob[]): void {
  const until_ms = performance.now() + outage_hold_ms;
  for (const job of jobs) job.ends_at_ms = Math.max(job.ends_at_ms, until_ms);
}
